-- In DuckDB: the text of rows of a table in the columns of its files.
-- params: columns expressions, table identifier
-- returns: the table's columns
-- index: none
SELECT %(columns)s
FROM %(table)s_files;
