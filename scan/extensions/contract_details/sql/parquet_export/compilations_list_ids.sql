-- In DuckDB: the ids of the compilations in a file.
-- params: file text
-- returns: id
-- index: none
SELECT TRY_CAST(id AS UUID)::VARCHAR FROM read_parquet(%(file)s) WHERE TRY_CAST(id AS UUID) IS NOT NULL;
