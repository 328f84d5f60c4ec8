-- Verified contracts, those verified last first.
-- params: limit integer, offset bigint
-- literals: limit
-- returns: one row: index version, JSON text, count in it, total
-- index: verified_contracts_by_time, contracts_pkey
WITH page AS (
    SELECT v.address, v.contract_name, v.compiler_version, v.match, v.license, v.verified_at,
        v.code_hash
    FROM verified_contracts v
    ORDER BY v.verified_at DESC, v.address DESC, v.code_hash DESC
    LIMIT %(limit)s
    OFFSET %(offset)s
)
SELECT index_version(),
    coalesce(json_agg(json_build_object(
        'address', hex(page.address),
        'contractName', page.contract_name,
        'compilerVersion', page.compiler_version,
        'match', page.match,
        'license', page.license,
        'verifiedAt', iso(page.verified_at)
    ) ORDER BY page.verified_at DESC, page.address DESC, page.code_hash DESC), '[]')::text,
    count(*),
    (SELECT count(*) FROM verified_contracts v)
FROM page;
