-- The layouts of the storage of contracts, by the verifications of their code.
-- params: addresses bytea[]
-- literals: none
-- returns: address, layout: the compiler's JSON, by zlib
-- index: contracts_pkey, verified_contracts_by_code_hash, storage_layouts_pkey
SELECT requested.address, l.layout
FROM unnest(%(addresses)s::bytea[]) AS requested (address)
CROSS JOIN LATERAL verification_of(requested.address) AS v
JOIN storage_layouts l ON l.address = v.address AND l.code_hash = v.code_hash;
