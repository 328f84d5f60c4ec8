-- Takes the lease of the job that has been due for longest, of a client none of whose jobs is running:
-- a job that is postponed lets the others pass. An expired lease is no lease. Several processes may
-- claim, one at a time (see jobs_lock). A CTE that locks is computed once; a subquery in FROM may be
-- the inner side of a nested loop, and would take the next job for each row of the outer side.
-- params: now timestamptz, lease bigint, leased_until timestamptz
-- returns: no row when nothing is due; else id, client, created_at, attempts (with this one), request
-- index: verification_jobs_unfinished, verification_jobs_pkey
WITH due AS (
    SELECT w.id
    FROM verification_jobs w
    WHERE w.finished_at IS NULL AND w.due_at <= %(now)s
        AND NOT EXISTS (
            SELECT
            FROM verification_jobs r
            WHERE r.finished_at IS NULL AND r.client = w.client AND r.status = 'running'
                AND r.due_at > %(now)s)
    ORDER BY w.due_at, w.created_at, w.id
    LIMIT 1
    FOR UPDATE SKIP LOCKED
)
UPDATE verification_jobs j
SET status = 'running', lease = %(lease)s, due_at = %(leased_until)s,
    started_at = coalesce(j.started_at, %(now)s), attempts = j.attempts + 1
FROM due
WHERE j.id = due.id
RETURNING j.id::text, j.client, j.created_at, j.attempts, j.request::text;
