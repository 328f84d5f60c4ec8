-- Restores rows of a table, a JSON array of lines of a file of owners' data.
-- params: restored text, columns text[], lines text
-- returns: how many rows were not there
-- index: none
SELECT restore_rows(%(restored)s, %(columns)s, %(lines)s::json);
