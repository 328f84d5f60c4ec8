-- The contracts whose views are not those of their present ABIs, and others: their code, its verification or build, their
-- implementations or what these are verified as are others than when the views were made.
-- params: others bytea[]
-- returns: address, name, ABI given (null: none), digest of what the views follow from
-- index: followed_contracts_pkey, contracts_pkey, verified_contracts_pkey, built_abis_pkey, contract_changes_pkey
SELECT c.address, c.name, c.abi::text, sources.digest
FROM followed_contracts c
CROSS JOIN LATERAL (
    SELECT CASE WHEN c.abi IS NOT NULL THEN ''::bytea ELSE sha256(convert_to(string_agg(
        ROW(a.address, k.block_number, k.code_hash, v.verified_at, b.stored_at, g.newest)::text, ','
        ORDER BY a.address, k.block_number), 'UTF8')) END AS digest
    FROM unnest(array_prepend(c.address, c.implementations)) AS a (address)
    LEFT JOIN contracts k ON k.address = a.address
    LEFT JOIN LATERAL (SELECT max(o.verified_at) AS verified_at FROM verified_contracts o
        WHERE o.code_hash = k.code_hash) AS v ON true
    LEFT JOIN built_abis b ON b.code_hash = k.code_hash
    LEFT JOIN LATERAL (SELECT max(o.block_number) AS newest FROM contract_changes o
        WHERE o.address = a.address) AS g ON true
) AS sources
WHERE c.abi_digest IS DISTINCT FROM sources.digest OR c.address = ANY (%(others)s::bytea[])
ORDER BY c.added_at, c.address;
