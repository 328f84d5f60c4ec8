-- Verified contracts whose code stands at their address now, by the ids of their matches.
-- params: limit integer, is_descending boolean, after bigint
-- literals: limit
-- returns: one row: index version, JSON array of {address, match, creationMatch, verifiedAt, matchId}
-- index: verified_contracts_by_match, verified_contracts_pkey, contracts_pkey, creation_comparisons_pkey
WITH page AS (
    (
        SELECT v.match_id, v.address
        FROM verified_contracts v
        WHERE v.is_indexed AND %(is_descending)s AND v.match_id < %(after)s
        ORDER BY v.match_id DESC
        LIMIT %(limit)s
    )
    UNION ALL
    (
        SELECT v.match_id, v.address
        FROM verified_contracts v
        WHERE v.is_indexed AND NOT %(is_descending)s AND v.match_id > %(after)s
        ORDER BY v.match_id ASC
        LIMIT %(limit)s
    )
)
SELECT index_version(), coalesce(json_agg(json_build_object(
    'address', hex(p.address),
    'match', v.match,
    'creationMatch', v.creation_match,
    'verifiedAt', iso(v.verified_at),
    'matchId', p.match_id::text
) ORDER BY CASE WHEN %(is_descending)s THEN -p.match_id ELSE p.match_id END), '[]')::text
FROM page p
CROSS JOIN verification_of(p.address) AS v;
