-- Claims about the code that stands at an address now, if it is not verified here: of other explorers and builds, and
-- of the public export. Where that one's sources were compiled to other code, they are left out.
-- params: address bytea
-- literals: none
-- returns: one row: index version, JSON array of {source, outcome, contractName, compilerVersion, match,
--   reason, receivedAt, abi, filePath, settings, sources}
-- index: contract_claims_by_address, contracts_pkey, verified_contracts_pkey, exported_contracts_pkey,
--   exported_compilations_pkey, exported_files_pkey, exported_sources_pkey
SELECT index_version(), (
    SELECT coalesce(json_agg(json_build_object(
            'source', c.source,
            'outcome', c.outcome,
            'contractName', c.contract_name,
            'compilerVersion', c.compiler_version,
            'match', c.claimed_match,
            'reason', c.reason,
            'receivedAt', iso(c.answered_at),
            'filePath', c.file_path,
            'settings', c.settings,
            'abi', c.abi,
            'sources', c.sources
        ) ORDER BY c.source), '[]')::text
    FROM (
        (SELECT a.source, a.outcome, a.contract_name, a.compiler_version, a.claimed_match, a.reason, a.answered_at,
            NULL AS file_path, NULL::json AS settings, NULL::json AS abi, NULL::json AS sources
        FROM contract_claims a
        WHERE a.address = %(address)s AND a.outcome = 'claimed'
            AND is_code_indexed(a.address, a.code_hash)
        ORDER BY a.source
        LIMIT 20)
        UNION ALL
        SELECT 'sourcify export', e.outcome, x.file_path || ':' || x.contract_name, x.compiler_version, e.match, e.reason, e.received_at,
            x.file_path, x.settings, CASE e.outcome WHEN 'claimed' THEN x.abi END,
            CASE e.outcome WHEN 'claimed' THEN exported_sources_of(x.compilation_id) END
        FROM exported_contracts e
        JOIN exported_compilations x ON x.compilation_id = e.compilation_id
        WHERE e.address = %(address)s AND is_code_indexed(e.address, e.code_hash)) AS c
    WHERE NOT EXISTS (SELECT FROM verification_of(%(address)s) AS v WHERE v.match <> 'runtime'));
