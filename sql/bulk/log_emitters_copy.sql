-- In DuckDB: the text of rows of log_emitters.
-- params: none
-- returns: the table's columns
-- index: none
SELECT bytea_text(address) AS address, block_number FROM log_emitters_files;
