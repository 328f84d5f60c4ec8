-- In DuckDB: the text of rows of internal_transfers, of one partition.
-- params: columns expressions
-- returns: the table's columns
-- index: none
SELECT ordinal, %(columns)s
FROM internal_transfers
WHERE in_partition(ordinal);
