-- The layouts of the storage, and the functions, of contracts, by the verifications of their code.
-- params: addresses bytea[]
-- literals: none
-- returns: address, layout and functions: JSON by zlib
-- index: contracts_pkey, verified_contracts_by_code_hash, compiled_sources_pkey
SELECT requested.address, m.layout, m.functions
FROM unnest(%(addresses)s::bytea[]) AS requested (address)
CROSS JOIN LATERAL verification_of(requested.address) AS v
JOIN compiled_sources m ON m.address = v.address AND m.code_hash = v.code_hash;
