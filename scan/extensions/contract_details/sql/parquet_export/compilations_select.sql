-- In DuckDB: those compilations of a file that are wanted, without JSON that is too large.
-- params: file text, most_bytes bigint
-- returns: id, fully qualified name, version, settings and artifacts as JSON text
-- index: none
SELECT TRY_CAST(c.id AS UUID)::VARCHAR, c.fully_qualified_name, c.version,
    CASE WHEN strlen(c.compiler_settings) <= %(most_bytes)s THEN c.compiler_settings END,
    CASE WHEN strlen(c.compilation_artifacts) <= 16 * %(most_bytes)s THEN c.compilation_artifacts END
FROM read_parquet(%(file)s) c
WHERE TRY_CAST(c.id AS UUID)::VARCHAR IN (SELECT w.key FROM wanted w);
