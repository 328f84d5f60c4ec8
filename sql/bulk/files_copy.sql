-- In DuckDB: the text of rows of a table as its files have them.
-- params: columns expressions, table identifier
-- returns: the table's columns
-- index: none
SELECT %(columns)s
FROM %(table)s_files;
