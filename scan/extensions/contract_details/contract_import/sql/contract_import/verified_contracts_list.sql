-- Verified contracts whose code stands at their address now, in the order of their addresses.
-- params: after bytea, limit integer
-- literals: limit
-- returns: address, match, creation_match, contract_name, file_path, compiler_version, license,
--   settings and sources as JSON text, constructor_arguments
-- index: verified_contracts_pkey
SELECT address, match, creation_match, contract_name, file_path, compiler_version, license,
    settings::text, sources::text, constructor_arguments
FROM verified_contracts
WHERE address > %(after)s AND is_indexed
ORDER BY address
LIMIT %(limit)s;
