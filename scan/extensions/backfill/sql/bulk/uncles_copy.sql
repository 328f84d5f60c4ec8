-- In DuckDB: the text of rows of uncles.
-- params: columns expressions
-- returns: the table's columns
-- index: none
SELECT timestamp_s, %(columns)s
FROM uncles_files;
