-- In DuckDB: this chain's contracts in a file of verified ones.
-- params: file text
-- returns: address, code_hash, compilation_id, match
-- index: none
SELECT d.address, d.code_hash, TRY_CAST(v.compilation_id AS UUID)::VARCHAR,
    CASE WHEN v.runtime_metadata_match OR v.creation_metadata_match THEN 'full' ELSE 'partial' END
FROM read_parquet(%(file)s) v
JOIN deployed d ON d.id = TRY_CAST(v.deployment_id AS UUID)
WHERE (v.runtime_match OR v.creation_match) AND TRY_CAST(v.compilation_id AS UUID) IS NOT NULL;
