-- Notes that a migration has been applied, or is not needed by a new database.
-- params: number integer, name text
-- returns: nothing
-- index: migrations_pkey
INSERT INTO migrations (number, name) VALUES (%(number)s, %(name)s);
