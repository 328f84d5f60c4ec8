-- A contract whose creation is to be compared with that of the verification which verification_of() takes.
-- params: address bytea
-- returns: no row where nothing is to be compared, or was before; code_hash, first block with this code; the
--   verification's creation_hash, creation_length, ABI
-- index: contracts_pkey, verified_contracts_pkey, verified_contracts_by_code_hash,
--   creation_comparisons_pkey
SELECT now.code_hash, now.block_number, v.creation_hash, v.creation_length, v.abi::text
FROM contract_at(%(address)s) AS now
CROSS JOIN verification_of(%(address)s) AS shown
JOIN verified_contracts v ON v.address = shown.address AND v.code_hash = shown.code_hash
LEFT JOIN creation_comparisons e
    ON e.address = %(address)s AND e.code_hash = v.code_hash AND e.creation_hash = v.creation_hash
WHERE v.match <> 'runtime' AND v.creation_hash IS NOT NULL AND e.is_equal IS NULL
    AND (v.address <> %(address)s OR e.address IS NOT NULL);
