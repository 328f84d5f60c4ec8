-- The ABIs of contracts by the blocks from which on their code was there.
-- params: addresses bytea[]
-- returns: address, first block, and the ABI's entries as a JSON text (null: none is known)
-- index: contracts_pkey, verified_contracts_by_code_hash, interfaces_pkey, built_abis_pkey
SELECT k.address, k.block_number, (
    SELECT coalesce(json_agg(entry ORDER BY ordinality), '[]')
    FROM json_array_elements(coalesce(i.entries, v.abi, b.abi)) WITH ORDINALITY AS e (entry, ordinality)
    WHERE entry ->> 'type' = 'event')::text
FROM contracts k
LEFT JOIN verification_of_code(k.address, k.code_hash) AS v ON true
LEFT JOIN interfaces i ON i.address = v.address AND i.code_hash = v.code_hash
LEFT JOIN built_abis b ON v.address IS NULL AND b.code_hash = k.code_hash
WHERE k.address = ANY (%(addresses)s::bytea[]) AND k.code_hash IS NOT NULL
ORDER BY k.address, k.block_number;
