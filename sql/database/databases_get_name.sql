-- The name of this database.
-- params: none
-- returns: one row: the name
-- index: none
SELECT current_database();
