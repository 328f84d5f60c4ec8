-- Forgets that these tables are to be derived again.
-- params: tables text[]
-- returns: nothing
-- index: table_rebuilds_pkey
DELETE FROM table_rebuilds WHERE name = ANY (%(tables)s::text[]);
