-- Takes the contract with the newest transaction of those to be compiled anew, unless another is: for ten minutes,
-- after which another process may.
-- params: now timestamptz
-- returns: no row where none is due; else address, code_hash, attempts before this one, file_path, contract_name,
--   compiler_version, license, settings and sources as JSON text
-- index: read_findings_due, verified_contracts_pkey, restored_sources_pkey
WITH due AS (
    SELECT f.address, f.code_hash
    FROM read_findings f
    JOIN verified_contracts v ON v.address = f.address AND v.code_hash = f.code_hash AND v.is_indexed
    WHERE f.version = 0 AND f.due_at <= %(now)s
        AND pg_try_advisory_xact_lock('read_findings'::regclass::oid::bigint)
        AND NOT EXISTS (SELECT
            FROM read_findings r
            WHERE r.version = 0 AND r.is_running AND r.due_at > %(now)s)
        AND NOT EXISTS (SELECT
            FROM restored_sources s
            WHERE s.address = f.address AND s.code_hash = f.code_hash)
    ORDER BY f.last_ordinal DESC, f.address
    LIMIT 1
    FOR UPDATE OF f
)
UPDATE read_findings f
SET due_at = %(now)s + interval '10 minutes', is_running = true, attempts = f.attempts + 1
FROM due
JOIN verified_contracts v ON v.address = due.address AND v.code_hash = due.code_hash
WHERE f.address = due.address AND f.code_hash = due.code_hash
RETURNING f.address, f.code_hash, f.attempts - 1, v.file_path, v.contract_name, v.compiler_version, v.license,
    v.settings::text, v.sources::text;
