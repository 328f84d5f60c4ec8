-- The version of the schema. While schema_state has an empty digest, the newest migration does not count
-- yet, as schema.sql is still to be applied.
-- params: none
-- returns: one row: the number of the newest migration, 0 without one
-- index: migrations_pkey
SELECT coalesce(max(m.number), 0)
    - (EXISTS (SELECT FROM schema_state s WHERE s.digest = ''))::integer
FROM migrations m;
