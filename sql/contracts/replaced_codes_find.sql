-- Contracts whose present code differs from the indexed one, or no longer does, where this is not noted.
-- params: addresses bytea[], hashes bytea[]
-- literals: none
-- returns: address, the present code's hash
-- index: contracts_pkey, replaced_codes_pkey
SELECT present.address, present.code_hash
FROM unnest(%(addresses)s::bytea[], %(hashes)s::bytea[]) AS present (address, code_hash)
CROSS JOIN LATERAL indexed_contract_at(present.address) AS now
LEFT JOIN replaced_codes r ON r.address = present.address
WHERE (present.code_hash = now.code_hash) = (r.address IS NOT NULL)
    OR r.code_hash <> now.code_hash
    OR r.present_hash <> present.code_hash;
