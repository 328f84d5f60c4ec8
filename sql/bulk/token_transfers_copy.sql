-- In DuckDB: the text of rows of token_transfers, of one partition.
-- params: columns expressions
-- returns: the table's columns
-- index: none
SELECT ordinal, %(columns)s
FROM token_transfers
WHERE in_partition(ordinal);
