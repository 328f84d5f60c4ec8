-- Gives leases back; their jobs may run again from `due_at` on. The run does not count as one.
-- params: leases bigint[], due_at timestamptz
-- returns: nothing
-- index: verification_jobs_unfinished
UPDATE verification_jobs
SET status = 'pending', lease = NULL, due_at = %(due_at)s, attempts = attempts - 1
WHERE finished_at IS NULL AND lease = ANY (%(leases)s);
