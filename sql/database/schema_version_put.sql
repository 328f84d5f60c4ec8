-- Stores the version of Scan that has applied schema.sql.
-- params: version text
-- returns: nothing
-- index: none
COMMENT ON TABLE schema_state IS %(version)s;
