-- In DuckDB: the text of rows of logs, of one partition.
-- params: columns expressions
-- returns: the table's columns
-- index: none
SELECT l.ordinal, e.topic_id, %(columns)s
FROM logs l
LEFT JOIN indexed_topics e ON e.topic0 = l.topic0
WHERE in_partition(l.ordinal);
