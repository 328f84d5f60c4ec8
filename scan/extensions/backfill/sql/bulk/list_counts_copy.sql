-- In DuckDB: the text of rows of list_counts.
-- params: none
-- returns: the table's columns
-- index: none
SELECT list, bytea_text(key) AS key, count FROM list_counts;
