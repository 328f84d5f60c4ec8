-- A contract whose creation is to be compared with that of a verified one with the same code, which is at
-- the address whose verification verification_of() takes.
-- params: address bytea
-- returns: no row where nothing is to be compared, or was before; code_hash, first block with this code,
--   verified address, first block with this code there, bytes of its constructor arguments, ABI
-- index: contracts_pkey, verified_contracts_pkey, verified_contracts_by_code_hash,
--   creation_comparisons_pkey
SELECT now.code_hash, now.block_number, v.address, there.block_number,
    octet_length(v.constructor_arguments), v.abi::text
FROM contract_at(%(address)s) AS now
CROSS JOIN verification_of(%(address)s) AS shown
JOIN verified_contracts v ON v.address = shown.address AND v.code_hash = shown.code_hash
CROSS JOIN LATERAL (
    SELECT c.block_number
    FROM contracts c
    WHERE c.address = v.address AND c.code_hash = v.code_hash
    ORDER BY c.block_number DESC
    LIMIT 1
) AS there
WHERE v.address <> %(address)s AND v.match <> 'runtime' AND v.constructor_arguments IS NOT NULL
    AND NOT EXISTS (SELECT
        FROM creation_comparisons e
        WHERE e.address = %(address)s AND e.verifier = v.address AND e.code_hash = v.code_hash);
