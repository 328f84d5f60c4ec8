-- Contracts, in the order of their addresses, that no verification covers and that a source was not asked
-- about since their present code was found.
-- params: source text, after bytea, limit integer
-- literals: limit
-- returns: address
-- index: contracts_pkey, contract_claims_pkey, verified_contracts_by_code_hash
SELECT c.address
FROM contracts c
WHERE c.address > %(after)s AND c.code_hash IS NOT NULL
    AND NOT EXISTS (SELECT
        FROM contracts newer
        WHERE newer.address = c.address AND newer.block_number > c.block_number)
    AND NOT EXISTS (SELECT
        FROM verified_contracts v
        WHERE v.code_hash = c.code_hash AND v.match <> 'runtime')
    AND NOT EXISTS (SELECT
        FROM contract_claims a
        WHERE a.source = %(source)s AND a.address = c.address AND a.code_hash = c.code_hash)
ORDER BY c.address
LIMIT %(limit)s;
