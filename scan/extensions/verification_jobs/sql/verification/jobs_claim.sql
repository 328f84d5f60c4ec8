-- Takes the lease of a job that is due. An expired lease counts as none. Several processes may claim, one at a
-- time (see jobs_lock).
-- params: id text, now timestamptz, lease bigint, leased_until timestamptz
-- returns: no row where it has ended meanwhile; else id, client, created_at, attempts (with this one), request
-- index: verification_jobs_pkey
UPDATE verification_jobs
SET status = 'running', lease = %(lease)s, due_at = %(leased_until)s,
    started_at = coalesce(started_at, %(now)s), attempts = attempts + 1
WHERE id = %(id)s::uuid AND finished_at IS NULL AND due_at <= %(now)s
RETURNING id::text, client, created_at, attempts, request::text;
