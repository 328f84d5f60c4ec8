-- In DuckDB: adds keys of rows that are wanted.
-- params: keys text[]
-- returns: nothing
-- index: none
INSERT INTO wanted SELECT unnest(%(keys)s);
