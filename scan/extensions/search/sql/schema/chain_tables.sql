-- Finds similar names: serves queries/search_list_similar, where the extension is available and may be
-- created. PostgreSQL's own packages have it, the embedded one does not.
DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_available_extensions WHERE name = 'pg_trgm') THEN
        CREATE EXTENSION IF NOT EXISTS pg_trgm;
        CREATE INDEX IF NOT EXISTS tokens_by_similar_name
            ON tokens USING gist (lower(name) gist_trgm_ops);
    END IF;
EXCEPTION WHEN insufficient_privilege OR undefined_object THEN
    RAISE NOTICE 'search finds no similar names: %', SQLERRM;
END
$$;
