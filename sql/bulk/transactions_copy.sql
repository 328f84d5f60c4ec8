-- In DuckDB: the text of rows of transactions, of one partition.
-- params: columns expressions
-- returns: the table's columns
-- index: none
SELECT ordinal, %(columns)s
FROM transactions
WHERE in_partition(ordinal);
