-- The contract at an address, with the verification of its code: its own, or that of another address with
-- identical code. Large values are returned only if `columns` names them; `built_abi` among them is the ABI of
-- the operator's build where the code is not verified, and `interface` what the compiler says beside the ABI.
-- params: address bytea, columns text[]
-- literals: none
-- returns: one row: index version, code_hash (null: no contract is indexed there), code, match (null:
--   not verified), creation_match, contract_name, file_path, compiler_version, license,
--   constructor_arguments, verified_at (ISO 8601), verifier (the other address), match_id, settings,
--   abi, sources, metadata, code_layouts (JSON text), first block with this code,
--   block at which the node returned another code (null: none), interface, whether the other address is verified
--   and the code that created this contract is not known to be another (null where there is no other),
--   how its code passes calls on, and what traces show of that (null: no `code` asked for)
-- index: delegated_calls_pkey, contracts_pkey, codes_pkey, verified_contracts_by_code_hash, verified_contracts_pkey, built_abis_pkey,
--   replaced_codes_pkey, interfaces_pkey, creation_comparisons_pkey
SELECT index_version(), now.code_hash, c.code, v.match,
    v.creation_match,
    v.contract_name, v.file_path, v.compiler_version, v.license,
    v.constructor_arguments,
    iso(v.verified_at), CASE WHEN v.address <> %(address)s THEN v.address END, v.match_id::text,
    CASE WHEN 'settings' = ANY (%(columns)s) THEN v.settings END::text,
    CASE WHEN 'abi' = ANY (%(columns)s) THEN coalesce(v.abi, b.abi) END::text,
    CASE WHEN 'sources' = ANY (%(columns)s) THEN v.sources END::text,
    CASE WHEN 'metadata' = ANY (%(columns)s) THEN v.metadata END,
    CASE WHEN 'layouts' = ANY (%(columns)s) THEN v.code_layouts END::text, now.block_number,
    r.block_number, CASE WHEN 'interface' = ANY (%(columns)s) THEN coalesce(i.entries, v.abi, b.abi) END::text,
    CASE WHEN v.address <> %(address)s THEN EXISTS (
            SELECT FROM verified_contracts o
            WHERE o.address = v.address AND o.code_hash = v.code_hash AND o.match <> 'runtime')
        AND NOT EXISTS (
            SELECT FROM creation_comparisons e
            WHERE e.address = %(address)s AND e.code_hash = v.code_hash AND e.creation_hash = v.creation_hash
                AND NOT e.is_equal) END, delegation_of(c),
    CASE WHEN c.delegation LIKE 'other%%' THEN delegated_calls_of(%(address)s, NULL) END
FROM (SELECT) AS always
LEFT JOIN contract_at(%(address)s) AS now ON true
LEFT JOIN verification_of(%(address)s) AS v ON true
LEFT JOIN built_abis b ON 'built_abi' = ANY (%(columns)s) AND v.address IS NULL AND b.code_hash = now.code_hash
LEFT JOIN replaced_codes r ON r.address = %(address)s AND r.code_hash = now.code_hash
LEFT JOIN codes c ON 'code' = ANY (%(columns)s) AND c.code_hash = now.code_hash
LEFT JOIN interfaces i ON 'interface' = ANY (%(columns)s) AND i.address = v.address
    AND i.code_hash = v.code_hash;
