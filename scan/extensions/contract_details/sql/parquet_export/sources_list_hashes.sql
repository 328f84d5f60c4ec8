-- In DuckDB: the hashes of the sources in a file.
-- params: file text
-- returns: source_hash
-- index: none
SELECT source_hash FROM read_parquet(%(file)s) WHERE octet_length(source_hash) = 32;
