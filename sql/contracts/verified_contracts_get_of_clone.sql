-- What is verified about the implementation that a minimal proxy (EIP-1167) names in its code.
-- params: address bytea, implementation bytea, proxy text
-- returns: no row, or the record as JSON text
-- index: contracts_pkey, verified_contracts_by_code_hash
SELECT verified_contract_record(v, %(address)s::bytea, %(proxy)s::json)::text
FROM (
    SELECT code_hash
    FROM contracts
    WHERE address = %(implementation)s
    ORDER BY block_number DESC
    LIMIT 1
) AS now
JOIN verified_contracts v ON v.code_hash = now.code_hash
ORDER BY v.address = %(implementation)s DESC, v.match, v.verified_at, v.address
LIMIT 1;
