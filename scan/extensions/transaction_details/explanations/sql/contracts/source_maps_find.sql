-- Where the code of these contracts is in the sources of its verification.
-- params: addresses bytea[]
-- returns: of those that are known: address, code, the verified address, its code_hash, source map
--   by zlib, files as JSON
-- index: contracts_pkey, codes_pkey, verified_contracts_by_code_hash, source_maps_pkey
SELECT requested.address, o.code, v.address, v.code_hash, m.source_map, m.files
FROM unnest(%(addresses)s::bytea[]) AS requested (address)
CROSS JOIN LATERAL verification_of(requested.address) AS v
JOIN source_maps m ON m.address = v.address AND m.code_hash = v.code_hash
JOIN codes o ON o.code_hash = v.code_hash;
