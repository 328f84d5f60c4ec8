-- In DuckDB: the numbers of entries of lists of few rows.
-- params: none
-- returns: the columns of the table list_counts in DuckDB
-- index: none
SELECT list, key, count
FROM list_counts_expected();
