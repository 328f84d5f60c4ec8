-- Restores the rows of a table from the lines of a file of owners' data.
-- params: restored text, columns text[]
-- returns: how many rows were not there
-- index: none
SELECT restore_rows(%(restored)s, %(columns)s);
