-- In DuckDB: how many rows a table of the spool has.
-- params: table text
-- returns: one row: the number
-- index: none
SELECT count(*) FROM query_table(%(table)s);
