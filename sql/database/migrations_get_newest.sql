-- How far the schema has come. The newest migration does not count before schema.sql is applied,
-- too, which an empty digest stands for.
-- params: none
-- returns: one row: the number of the newest migration, 0 without one
-- index: migrations_pkey
SELECT coalesce(max(m.number), 0)
    - (EXISTS (SELECT FROM schema_state s WHERE s.digest = ''))::integer
FROM migrations m;
