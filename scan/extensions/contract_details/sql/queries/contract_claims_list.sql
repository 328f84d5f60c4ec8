-- Claims of other explorers about the code that stands at an address now, if none of them was verified
-- here.
-- params: address bytea
-- literals: none
-- returns: one row: index version, JSON array of {source, contractName, compilerVersion, match,
--   reason, receivedAt}
-- index: contract_claims_by_address, contracts_pkey, verified_contracts_pkey
SELECT index_version(), (
    SELECT coalesce(json_agg(json_build_object(
            'source', c.source,
            'contractName', c.contract_name,
            'compilerVersion', c.compiler_version,
            'match', c.claimed_match,
            'reason', c.reason,
            'receivedAt', iso(c.answered_at)
        ) ORDER BY c.source), '[]')::text
    FROM (
        SELECT a.source, a.contract_name, a.compiler_version, a.claimed_match, a.reason, a.answered_at
        FROM contract_claims a
        WHERE a.address = %(address)s AND a.outcome = 'claimed'
            AND is_code_indexed(a.address, a.code_hash)
            AND NOT EXISTS (SELECT
                FROM verified_contracts v
                WHERE v.address = a.address AND v.code_hash = a.code_hash AND v.match <> 'runtime')
        ORDER BY a.source
        LIMIT 20) AS c);
