-- The ABI by which the contract at an address can be called, from a verification of its code there
-- or elsewhere.
-- params: address bytea
-- returns: no row where its code is not verified; else the ABI as JSON
-- index: contracts_pkey, verified_contracts_by_code_hash
SELECT v.abi
FROM (
    SELECT code_hash
    FROM contracts
    WHERE address = %(address)s
    ORDER BY block_number DESC
    LIMIT 1
) AS now
JOIN verified_contracts v ON v.code_hash = now.code_hash
ORDER BY v.address = %(address)s DESC, v.match, v.verified_at, v.address
LIMIT 1;
