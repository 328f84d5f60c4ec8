-- In DuckDB: the text of rows of list_checkpoints.
-- params: none
-- returns: the table's columns
-- index: none
SELECT place, ordinal, block_number, list, bytea_text(key) AS key FROM list_checkpoints;
