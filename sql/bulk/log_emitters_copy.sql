-- In DuckDB: the text of rows of log_emitters.
-- params: columns expressions
-- returns: the table's columns
-- index: none
SELECT %(columns)s
FROM log_emitters_files;
