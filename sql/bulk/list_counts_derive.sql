-- In DuckDB: how many entries lists of few rows have.
-- params: none
-- returns: what the table list_counts of DuckDB is made of
-- index: none
SELECT list, key, count
FROM list_counts_expected();
