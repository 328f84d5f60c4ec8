-- Which of these contracts have a verification with a layout of the storage.
-- params: addresses bytea[]
-- literals: none
-- returns: of those: address, contract_name, file_path, the verified address, its code_hash, verified_at
-- index: contracts_pkey, verified_contracts_by_code_hash, compiled_sources_pkey
SELECT requested.address, v.contract_name, v.file_path, v.address, v.code_hash, v.verified_at
FROM unnest(%(addresses)s::bytea[]) AS requested (address)
CROSS JOIN LATERAL verification_of(requested.address) AS v
JOIN compiled_sources m ON m.address = v.address AND m.code_hash = v.code_hash
WHERE m.layout IS NOT NULL;
