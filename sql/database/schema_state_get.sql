-- The digest of the schema.sql that was applied last.
-- params: none
-- returns: no row, or its SHA-256
-- index: schema_state_pkey
SELECT digest FROM schema_state;
