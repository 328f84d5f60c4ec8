-- Where the code of these contracts in a block is in the sources of its verification.
-- params: addresses bytea[], block_number bigint
-- returns: of those that are known: address, code, the verified address, its code_hash, source map by zlib, files,
--   ABI and settings as JSON, functions by zlib
-- index: contracts_pkey, replaced_codes_pkey, codes_pkey, verified_contracts_by_code_hash, compiled_sources_pkey
SELECT requested.address, o.code, v.address, v.code_hash, m.source_map, m.files, v.abi, v.settings, m.functions
FROM unnest(%(addresses)s::bytea[]) AS requested (address)
CROSS JOIN contracts_between(requested.address, %(block_number)s::bigint, %(block_number)s::bigint) AS c
CROSS JOIN verification_of_code(requested.address, c.code_hash) AS v
JOIN compiled_sources m ON m.address = v.address AND m.code_hash = v.code_hash
JOIN codes o ON o.code_hash = v.code_hash
WHERE m.source_map IS NOT NULL;
