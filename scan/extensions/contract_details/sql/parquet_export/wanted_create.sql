-- In DuckDB: makes the table of keys of the rows that are wanted of a file.
-- params: none
-- returns: nothing
-- index: none
CREATE OR REPLACE TABLE wanted (key VARCHAR);
