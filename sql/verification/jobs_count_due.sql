-- How many jobs wait for a compiler: they are due, and no job of their client is running.
-- params: now timestamptz
-- returns: the number
-- index: verification_jobs_unfinished
SELECT count(*)
FROM verification_jobs w
WHERE w.finished_at IS NULL AND w.due_at <= %(now)s
    AND NOT EXISTS (
        SELECT
        FROM verification_jobs r
        WHERE r.finished_at IS NULL AND r.client = w.client AND r.status = 'running'
            AND r.due_at > %(now)s);
