-- Verified contracts whose code stands at their address now, those verified last first.
-- params: limit integer, offset bigint
-- literals: limit
-- returns: one row: index version, JSON text, count in it, total
-- index: verified_contracts_listed, verified_contracts_pkey
WITH page AS (
    SELECT v.verified_at, v.address, v.code_hash
    FROM verified_contracts v
    WHERE v.is_indexed
    ORDER BY v.verified_at DESC, v.address DESC, v.code_hash DESC
    LIMIT %(limit)s
    OFFSET %(offset)s
)
SELECT index_version(),
    coalesce(json_agg(json_build_object(
        'address', hex(v.address),
        'contractName', v.contract_name,
        'compilerVersion', v.compiler_version,
        'match', v.match,
        'license', v.license,
        'verifiedAt', iso(v.verified_at)
    ) ORDER BY page.verified_at DESC, page.address DESC, page.code_hash DESC), '[]')::text,
    count(*),
    (SELECT count(*) FROM verified_contracts l WHERE l.is_indexed)
FROM page
JOIN verified_contracts v USING (address, code_hash);
