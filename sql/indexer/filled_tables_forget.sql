-- Forgets all tables but these: from now on nothing keeps the others.
-- params: tables text[]
-- returns: nothing
-- index: none
DELETE FROM filled_tables WHERE name <> ALL (%(tables)s::text[]);
