-- The migrations that this database has had.
-- params: none
-- returns: rows: number
-- index: migrations_pkey
SELECT number FROM migrations ORDER BY number;
