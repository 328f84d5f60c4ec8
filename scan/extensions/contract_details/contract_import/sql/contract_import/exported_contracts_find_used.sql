-- Of the transactions before one, the newest whose recipient has a claim that may be compiled, and no other contract
-- with its code is verified.
-- params: before bigint, limit integer, now timestamptz
-- literals: limit
-- returns: one row: the recipient's address, or null; the ordinal of the oldest transaction that was looked at, or null
-- index: transactions_pkey, contracts_pkey, exported_contracts_pkey, verified_contracts_by_code_hash
WITH newest AS MATERIALIZED (
    SELECT t.ordinal, t.to_address
    FROM transactions t
    WHERE t.ordinal < %(before)s
    ORDER BY t.ordinal DESC
    LIMIT %(limit)s
)
SELECT (
    SELECT n.to_address
    FROM (SELECT u.to_address, max(u.ordinal) AS ordinal FROM newest u GROUP BY u.to_address) AS n
    WHERE n.to_address IS NOT NULL AND EXISTS (SELECT
        FROM exported_contract_due(n.to_address, %(now)s) AS e
        WHERE NOT EXISTS (SELECT
            FROM verified_contracts v
            WHERE v.code_hash = e.code_hash AND v.match <> 'runtime'))
    ORDER BY n.ordinal DESC
    LIMIT 1), (SELECT min(n.ordinal) FROM newest n);
