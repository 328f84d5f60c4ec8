-- The unfinished jobs, the one that has been due for longest first.
-- params: now timestamptz
-- returns: id, client, whether it runs, under a lease that has not expired, whether it is due
-- index: verification_jobs_unfinished
SELECT id::text, client, status = 'running' AND due_at > %(now)s, due_at <= %(now)s
FROM verification_jobs
WHERE finished_at IS NULL
ORDER BY due_at, created_at, id;
