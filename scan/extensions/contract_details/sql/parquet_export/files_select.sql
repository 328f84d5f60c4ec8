-- In DuckDB: the paths of sources in a file.
-- params: file text, most_bytes bigint
-- returns: compilation_id, path, source_hash
-- index: none
SELECT TRY_CAST(f.compilation_id AS UUID)::VARCHAR, f.path, f.source_hash
FROM read_parquet(%(file)s) f
WHERE TRY_CAST(f.compilation_id AS UUID) IS NOT NULL AND octet_length(f.source_hash) = 32
    AND strlen(f.path) BETWEEN 1 AND %(most_bytes)s;
