-- What a contract is called by its verification or build.
-- params: address bytea
-- returns: one row: a name, or null
-- index: contracts_pkey, verified_contracts_by_code_hash, built_abis_pkey
SELECT (
    SELECT coalesce(v.contract_name, b.contract_name)
    FROM contracts k
    LEFT JOIN verification_of_code(k.address, k.code_hash) AS v ON true
    LEFT JOIN built_abis b ON b.code_hash = k.code_hash
    WHERE k.address = %(address)s
    ORDER BY k.block_number DESC
    LIMIT 1);
