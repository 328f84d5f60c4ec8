-- In DuckDB: the text of rows of logs, of one partition.
-- params: none
-- returns: the table's columns
-- index: none
SELECT l.ordinal, l.block_number, l.log_index, l.transaction_index, e.topic_id,
    bytea_text(l.address) AS address, bytea_text(l.topics) AS topics, bytea_text(l.data) AS data
FROM logs l
LEFT JOIN indexed_topics e ON e.topic0 = l.topic0
WHERE in_partition(l.ordinal);
