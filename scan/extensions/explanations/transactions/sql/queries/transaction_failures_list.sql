-- The stored reasons for which transactions of blocks failed, with the beginning of what the contract
-- returned, and the addresses of the three innermost codes.
-- params: hashes bytea[], block_hashes bytea[], most integer
-- literals: none
-- returns: one row: index version, JSON object: by hash an array of kind, words, data, its size before
--   it was cut, addresses of the code
-- index: transaction_failures_pkey
SELECT index_version(), (
    SELECT coalesce(json_object_agg(hex(f.transaction_hash), json_build_array(f.kind, f.words,
        hex(substr(f.data, 1, %(most)s)), f.data_size,
        (SELECT coalesce(json_agg(hex(code)), '[]') FROM unnest(f.code_addresses[:3]) AS code))),
        '{}')::text
    FROM unnest(%(hashes)s::bytea[], %(block_hashes)s::bytea[]) AS failed (hash, block_hash)
    JOIN transaction_failures f
        ON f.transaction_hash = failed.hash AND f.block_hash = failed.block_hash);
