-- In DuckDB: the text of rows of withdrawals.
-- params: columns expressions
-- returns: the table's columns
-- index: none
SELECT %(columns)s
FROM withdrawals_files;
