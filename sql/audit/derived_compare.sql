-- Rows of a table that differ from those of expected_<table>.
-- params: table text, most integer
-- returns: the stored row, or else the expected one; its columns that are no keys, as stored and as
--   expected, null where there is no row (jsonb); the number of rows that differ
-- index: none
SELECT compared_row, stored, expected, differences FROM compare_rows(%(table)s, %(most)s);
