-- In DuckDB: the text of rows of credits.
-- params: columns expressions
-- returns: the table's columns
-- index: none
SELECT %(columns)s
FROM credits_files;
