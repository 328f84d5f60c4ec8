-- Makes the rows of a table what expected_<table> has.
-- params: table text
-- returns: nothing
-- index: none
SELECT repair_rows(%(table)s);
