-- Takes a restored contract whose code is indexed, for ten minutes, after which another process may.
-- params: now timestamptz
-- returns: no row where none is due; else address, code_hash, attempts before this one, file_path, contract_name,
--   compiler_version, license, settings and sources as JSON text
-- index: restored_sources_due, verified_contracts_pkey
WITH due AS (
    SELECT r.address, r.code_hash
    FROM restored_sources r
    JOIN verified_contracts v ON v.address = r.address AND v.code_hash = r.code_hash AND v.is_indexed
    WHERE r.reason IS NULL AND r.due_at <= %(now)s
    ORDER BY r.due_at, r.address
    LIMIT 1
    FOR UPDATE OF r SKIP LOCKED
)
UPDATE restored_sources r
SET due_at = %(now)s + interval '10 minutes', attempts = r.attempts + 1
FROM due
JOIN verified_contracts v ON v.address = due.address AND v.code_hash = due.code_hash
WHERE r.address = due.address AND r.code_hash = due.code_hash
RETURNING r.address, r.code_hash, r.attempts - 1, v.file_path, v.contract_name, v.compiler_version, v.license,
    v.settings::text, v.sources::text;
