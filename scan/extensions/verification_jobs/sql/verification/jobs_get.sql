-- A job by its id.
-- params: id text
-- returns: no row, or id, client, address, status, created_at, finished_at, match, creation_match,
--   message, error_code
-- index: verification_jobs_pkey
SELECT id::text, client, address, status, created_at, finished_at, match, creation_match, message,
    error_code
FROM verification_jobs
WHERE id = %(id)s::uuid;
