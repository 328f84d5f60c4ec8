-- In DuckDB: the number after the newest block with a body, null without any.
-- params: none
-- returns: one row: the number
-- index: none
SELECT max(block_number) + 1 FROM block_bodies_files;
