-- In DuckDB: the number of rows of a table of the spool.
-- params: table text
-- returns: one row: the number
-- index: none
SELECT count(*) FROM query_table(%(table)s);
