-- In DuckDB: those sources of a file that are wanted and not too large.
-- params: file text, most_bytes bigint
-- returns: source_hash, content
-- index: none
SELECT s.source_hash, s.content
FROM read_parquet(%(file)s) s
WHERE hex(s.source_hash) IN (SELECT w.key FROM wanted w) AND strlen(s.content) <= %(most_bytes)s;
