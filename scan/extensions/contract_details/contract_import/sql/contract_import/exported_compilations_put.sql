-- Stores a compilation, unless it is stored.
-- params: compilation_id text, contract_name text, file_path text, compiler_version text, settings text,
--   abi text null
-- returns: nothing
-- index: exported_compilations_pkey
INSERT INTO exported_compilations (compilation_id, contract_name, file_path, compiler_version, settings, abi)
VALUES (%(compilation_id)s::uuid, %(contract_name)s, %(file_path)s, %(compiler_version)s, %(settings)s::json,
    %(abi)s::json)
ON CONFLICT DO NOTHING;
