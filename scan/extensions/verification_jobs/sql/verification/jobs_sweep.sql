-- Removes jobs that are to be kept no longer.
-- params: created_before timestamptz, limit integer
-- returns: nothing
-- index: verification_jobs_by_age, verification_jobs_pkey
DELETE FROM verification_jobs
WHERE id IN (
    SELECT id
    FROM verification_jobs
    WHERE created_at < %(created_before)s
    ORDER BY created_at
    LIMIT %(limit)s);
