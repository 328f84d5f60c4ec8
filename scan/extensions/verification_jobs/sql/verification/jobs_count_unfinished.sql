-- The numbers of unfinished jobs of one client and of all.
-- params: client text
-- returns: of the client, of all
-- index: verification_jobs_unfinished
SELECT count(*) FILTER (WHERE client = %(client)s), count(*)
FROM verification_jobs
WHERE finished_at IS NULL;
