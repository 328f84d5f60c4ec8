-- In DuckDB: the counters of the lists that list_counts counts.
-- params: none
-- returns: the columns of the table list_counts in DuckDB
-- index: none
SELECT list, key, count
FROM list_counts_expected();
