-- Claims of a source that no verification has replaced, in the order of their addresses.
-- params: source text, after bytea, limit integer
-- literals: limit
-- returns: address, record as JSON text
-- index: contract_claims_pkey, verified_contracts_pkey
SELECT a.address, a.record::text
FROM contract_claims a
WHERE a.source = %(source)s AND a.address > %(after)s AND a.outcome = 'claimed'
    AND is_code_indexed(a.address, a.code_hash)
    AND NOT EXISTS (SELECT
        FROM verified_contracts v
        WHERE v.address = a.address AND v.code_hash = a.code_hash AND v.match <> 'runtime')
ORDER BY a.address
LIMIT %(limit)s;
