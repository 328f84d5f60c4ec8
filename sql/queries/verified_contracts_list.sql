-- Verified contracts whose code stands at their address now, those verified last first.
-- params: limit integer, offset bigint, after_us bigint null, after_address bytea null,
--   after_code_hash bytea null
-- literals: limit
-- returns: one row: index version, JSON text, count in it, total; for cursors: microseconds of
--   verified_at, address and code hash of the last row where more may follow
-- index: verified_contracts_listed, verified_contracts_pkey, contracts_pkey, creation_comparisons_pkey
WITH page AS (
    SELECT v.verified_at, v.address, v.code_hash
    FROM verified_contracts v
    WHERE v.is_indexed AND v.match <> 'runtime'
        AND (v.verified_at, v.address, v.code_hash) < (
            coalesce(timestamptz 'epoch' + %(after_us)s * interval '1 microsecond', 'infinity'),
            coalesce(%(after_address)s, ''), coalesce(%(after_code_hash)s, ''))
    ORDER BY v.verified_at DESC, v.address DESC, v.code_hash DESC
    LIMIT %(limit)s
    OFFSET %(offset)s
), last AS (
    SELECT verified_at, address, code_hash
    FROM page
    WHERE (SELECT count(*) FROM page) = %(limit)s
    ORDER BY verified_at ASC, address ASC, code_hash ASC
    LIMIT 1
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
    (SELECT count(*) FROM verified_contracts l WHERE l.is_indexed AND l.match <> 'runtime'),
    (SELECT (extract(epoch FROM verified_at) * 1000000)::bigint FROM last),
    (SELECT address FROM last),
    (SELECT code_hash FROM last)
FROM page
CROSS JOIN verification_of(page.address) AS v;
