-- Takes an exported contract that may be compiled and whose sources are all there, for ten minutes, after which
-- another process may.
-- params: address bytea, now timestamptz
-- returns: no row where it may not be; else address, code_hash, attempts before this one, file_path, contract_name,
--   compiler_version, license (null), settings and sources as JSON text
-- index: contracts_pkey, exported_contracts_pkey, exported_compilations_pkey, exported_files_pkey
UPDATE exported_contracts e
SET due_at = %(now)s + interval '10 minutes', attempts = e.attempts + 1
FROM exported_contract_due(%(address)s, %(now)s) AS due
JOIN exported_compilations c ON c.compilation_id = due.compilation_id
WHERE e.address = due.address AND e.code_hash = due.code_hash AND e.due_at <= %(now)s
RETURNING e.address, e.code_hash, e.attempts - 1, c.file_path, c.contract_name, c.compiler_version, NULL,
    c.settings::text, exported_sources_of(c.compilation_id)::text;
