-- The version of Scan that applied schema.sql last: a comment, which tables from before it may lack.
-- params: none
-- returns: one row: the version, or null
-- index: none
SELECT obj_description(to_regclass('schema_state'), 'pg_class');
