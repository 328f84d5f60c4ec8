-- Rows of a table that are not as expected_<table> has them.
-- params: table text, most integer
-- returns: the row, or else the expected one; what is stored and what is expected, null where there is no
--   row (jsonb); how many differ
-- index: none
SELECT compared_row, stored, expected, differences FROM compare_rows(%(table)s, %(most)s);
