-- Extends leases that are still held.
-- params: leases bigint[], leased_until timestamptz
-- returns: nothing
-- index: verification_jobs_unfinished
UPDATE verification_jobs
SET due_at = %(leased_until)s
WHERE finished_at IS NULL AND lease = ANY (%(leases)s);
