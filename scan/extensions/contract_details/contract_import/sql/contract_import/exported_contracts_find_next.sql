-- Of the exported contracts after an address, the first whose claim may be compiled, and no other contract with its
-- code is verified.
-- params: after bytea, limit integer, now timestamptz
-- literals: limit
-- returns: one row: its address, or null; the last address that was looked at, or null
-- index: exported_contracts_pkey, contracts_pkey, verified_contracts_by_code_hash
WITH next AS MATERIALIZED (
    SELECT e.address
    FROM exported_contracts e
    WHERE e.address > %(after)s
    ORDER BY e.address
    LIMIT %(limit)s
)
SELECT (
    SELECT n.address
    FROM next n
    WHERE EXISTS (SELECT
        FROM exported_contract_due(n.address, %(now)s) AS e
        WHERE NOT EXISTS (SELECT
            FROM verified_contracts v
            WHERE v.code_hash = e.code_hash AND v.match <> 'runtime'))
    ORDER BY n.address
    LIMIT 1), (SELECT n.address FROM next n ORDER BY n.address DESC LIMIT 1); -- max(bytea) is new in PostgreSQL 18
