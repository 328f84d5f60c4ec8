-- The code that stands at an address now, and the transaction that created it where one did.
-- params: address bytea
-- returns: no row where nothing is indexed; code_hash, code, transaction hash (null when a contract
--   created it, or when it was deployed more than once)
-- index: contracts_pkey, codes_pkey, transactions_by_contract
SELECT now.code_hash, c.code,
    (SELECT CASE WHEN count(*) = 1 THEN (array_agg(t.hash))[1] END
    FROM transactions t
    WHERE t.contract_address = %(address)s AND t.status)
FROM (
    SELECT code_hash
    FROM contracts
    WHERE address = %(address)s
    ORDER BY block_number DESC
    LIMIT 1
) AS now
JOIN codes c ON c.code_hash = now.code_hash;
