-- Who may call the functions of the code that stands at these addresses now, by the source of its verification.
-- params: addresses bytea[]
-- literals: none
-- returns: one row: index version, JSON array of {address, verified, permissions, paths} in the order of
--   the addresses; permissions are null where they are not known, paths the source's files, the contract's
--   own first
-- index: contracts_pkey, verified_contracts_by_code_hash, verified_contracts_pkey, contract_permissions_pkey
SELECT index_version(), (
    SELECT json_list(string_agg(json_build_object(
            'address', hex(requested.address),
            'verified', v.address IS NOT NULL,
            'permissions', p.permissions,
            'paths', (
                SELECT json_agg(path ORDER BY path <> v.file_path, path COLLATE "C")
                FROM json_object_keys(v.sources) AS path
                WHERE p.address IS NOT NULL)
        )::text, ',' ORDER BY requested.position))
    FROM unnest(%(addresses)s::bytea[]) WITH ORDINALITY AS requested (address, position)
    LEFT JOIN LATERAL verification_of(requested.address) AS v ON true
    LEFT JOIN contract_permissions p ON p.address = v.address AND p.code_hash = v.code_hash);
