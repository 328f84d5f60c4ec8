-- How far the schema has come.
-- params: none
-- returns: one row: the number of the newest migration, 0 without one
-- index: migrations_pkey
SELECT coalesce(max(number), 0) FROM migrations;
