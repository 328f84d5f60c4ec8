-- Stores the digest of the schema.sql that has been applied.
-- params: digest bytea
-- returns: nothing
-- index: schema_state_pkey
INSERT INTO schema_state (digest) VALUES (%(digest)s)
ON CONFLICT (only_row) DO UPDATE SET digest = excluded.digest;
