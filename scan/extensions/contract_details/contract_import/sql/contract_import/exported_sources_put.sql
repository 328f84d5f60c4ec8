-- Stores a source, unless it is stored.
-- params: source_hash bytea, content text
-- returns: nothing
-- index: exported_sources_pkey
INSERT INTO exported_sources (source_hash, content) VALUES (%(source_hash)s, %(content)s) ON CONFLICT DO NOTHING;
