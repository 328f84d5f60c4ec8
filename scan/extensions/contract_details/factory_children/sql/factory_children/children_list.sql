-- Contracts whose code is not verified, or by other creation code alone, the newest first, which contracts with
-- verified code created: among the newest creations, and among those of the factories that were verified last.
-- params: seen bytea[], creations integer, factories integer, limit integer
-- literals: none
-- returns: code_hash, address, address at which the factory's code is verified, when the code was verified last as
--   text (empty: never), without those whose code_hash, last address and text are in `seen`
-- index: contract_creations_pkey, contract_creations_by_factory, verified_contracts_listed, contracts_pkey,
--   verified_contracts_pkey, verified_contracts_by_code_hash, creation_comparisons_pkey
SELECT now.code_hash, now.address, v.address, code.verified_at
FROM (
    (SELECT ordinal, address, factory
    FROM contract_creations
    ORDER BY ordinal DESC
    LIMIT %(creations)s)
    UNION
    (SELECT n.ordinal, n.address, n.factory
    FROM (
        SELECT address
        FROM verified_contracts
        WHERE is_indexed AND match <> 'runtime'
        ORDER BY verified_at DESC, address DESC, code_hash DESC
        LIMIT %(factories)s) AS f
    CROSS JOIN LATERAL (
        SELECT c.ordinal, c.address, c.factory
        FROM contract_creations c
        WHERE c.factory = f.address
        ORDER BY c.ordinal DESC
        LIMIT %(creations)s) AS n)) AS n
CROSS JOIN LATERAL contract_at(n.address) AS now
CROSS JOIN LATERAL verification_of(n.factory) AS v
CROSS JOIN LATERAL (
    SELECT coalesce(greatest(
        (SELECT max(o.verified_at) FROM verified_contracts o WHERE o.code_hash = now.code_hash AND o.match = 'full'),
        (SELECT max(o.verified_at) FROM verified_contracts o WHERE o.code_hash = now.code_hash AND o.match = 'partial')
    )::text, '')) AS code (verified_at)
WHERE n.factory IS NOT NULL AND v.match <> 'runtime'
    AND now.code_hash || v.address || code.verified_at::bytea <> ALL (%(seen)s::bytea[])
    AND (code.verified_at = '' OR EXISTS (SELECT
        FROM creation_comparisons e
        WHERE e.address = now.address AND e.code_hash = now.code_hash AND NOT e.is_equal
            AND e.compared_at > code.verified_at::timestamptz))
ORDER BY n.ordinal DESC
LIMIT %(limit)s;
