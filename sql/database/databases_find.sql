-- Tells whether a database of this name exists.
-- params: name text
-- returns: one row when it does
-- index: pg_database_datname_index
SELECT true FROM pg_database WHERE datname = %(name)s;
