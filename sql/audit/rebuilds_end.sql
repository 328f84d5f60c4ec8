-- Puts the derived rows into their table.
-- params: table text
-- returns: how many rows were others
-- index: none
SELECT end_rebuild(%(table)s);
