-- Verified contracts whose code stands at their address now, one for each code that is not among these.
-- params: code_hashes bytea[], limit integer
-- returns: code_hash, address, match, creation_match, contract_name, file_path, compiler_version,
--   license, settings and sources as JSON text, constructor_arguments
-- index: verified_contracts_by_code_hash
SELECT DISTINCT ON (code_hash) code_hash, address, match, creation_match, contract_name, file_path,
    compiler_version, license, settings::text, sources::text, constructor_arguments
FROM verified_contracts
WHERE code_hash <> ALL (%(code_hashes)s::bytea[]) AND is_indexed AND match <> 'runtime' AND code_length IS NOT NULL
ORDER BY code_hash, match, verified_at, address
LIMIT %(limit)s;
