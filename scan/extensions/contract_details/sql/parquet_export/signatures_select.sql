-- In DuckDB: the signatures of a file.
-- params: file text
-- returns: Keccak-256 of the signature, signature
-- index: none
SELECT signature_hash_32, signature
FROM read_parquet(%(file)s)
WHERE signature IS NOT NULL;
