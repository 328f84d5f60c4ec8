-- Verified contracts whose code stands at their address now, all or those whose source map is not known, in the
-- order of their addresses.
-- params: after bytea, is_unmapped boolean, limit integer
-- literals: limit
-- returns: address, match, creation_match, contract_name, file_path, compiler_version, license,
--   settings and sources as JSON text, constructor_arguments
-- index: verified_contracts_pkey, compiled_sources_pkey
SELECT address, match, creation_match, contract_name, file_path, compiler_version, license,
    settings::text, sources::text, constructor_arguments
FROM verified_contracts v
WHERE address > %(after)s AND is_indexed
    AND NOT (%(is_unmapped)s AND coalesce((
        SELECT m.source_map IS NOT NULL
        FROM compiled_sources m
        WHERE m.address = v.address AND m.code_hash = v.code_hash), false))
ORDER BY address
LIMIT %(limit)s;
