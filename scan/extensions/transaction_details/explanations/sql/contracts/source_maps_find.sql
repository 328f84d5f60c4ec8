-- Where the code of these contracts at a block is in the sources of its verification: not where other code
-- stood there. Before the block in which their code was read first, they are taken to have had that code.
-- params: addresses bytea[], block_number bigint
-- returns: of those that are known: address, code, the verified address, its code_hash, source map
--   by zlib, files as JSON, layout of the storage by zlib
-- index: contracts_pkey, codes_pkey, verified_contracts_by_code_hash, source_maps_pkey, storage_layouts_pkey
SELECT requested.address, o.code, v.address, v.code_hash, m.source_map, m.files, l.layout
FROM unnest(%(addresses)s::bytea[]) AS requested (address)
CROSS JOIN LATERAL verification_of(requested.address) AS v
JOIN source_maps m ON m.address = v.address AND m.code_hash = v.code_hash
LEFT JOIN storage_layouts l ON l.address = v.address AND l.code_hash = v.code_hash
JOIN codes o ON o.code_hash = v.code_hash
WHERE v.code_hash = coalesce(
    (SELECT c.code_hash FROM contracts c
    WHERE c.address = requested.address AND c.block_number <= %(block_number)s
    ORDER BY c.block_number DESC LIMIT 1),
    (SELECT c.code_hash FROM contracts c
    WHERE c.address = requested.address
    ORDER BY c.block_number LIMIT 1));
