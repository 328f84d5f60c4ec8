-- Fills the temporary table expected_<table> with the rows that a derived table should hold.
-- params: table text
-- returns: nothing
-- index: none
SELECT expect_rows(%(table)s);
