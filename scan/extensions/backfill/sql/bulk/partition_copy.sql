-- In DuckDB: the text of rows of one partition of a table.
-- params: columns expressions, table identifier
-- returns: the table's columns
-- index: none
SELECT ordinal, %(columns)s
FROM %(table)s
WHERE in_partition(ordinal);
