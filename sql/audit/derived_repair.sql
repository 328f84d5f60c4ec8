-- Makes the rows of a table equal to those of expected_<table>.
-- params: table text
-- returns: nothing
-- index: none
SELECT repair_rows(%(table)s);
