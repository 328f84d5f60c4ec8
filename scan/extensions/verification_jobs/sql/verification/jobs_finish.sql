-- Records how a job ended, if its lease is still held, or of one without a lease, if it has none.
-- params: id text, lease bigint null, status text, now timestamptz, match text null,
--   creation_match text null, message text, error_code text null
-- returns: nothing
-- index: verification_jobs_pkey
UPDATE verification_jobs
SET status = %(status)s, finished_at = %(now)s, lease = NULL, request = NULL, match = %(match)s,
    creation_match = %(creation_match)s, message = %(message)s,
    error_code = %(error_code)s
WHERE id = %(id)s::uuid AND finished_at IS NULL AND lease IS NOT DISTINCT FROM %(lease)s;
