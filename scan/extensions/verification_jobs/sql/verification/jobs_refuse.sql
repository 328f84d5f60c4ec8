-- Adds a job that has failed before it began, in place of those of its client that are older than 5 s.
-- params: id text, client text, address bytea, message text, form_field text, now timestamptz
-- returns: nothing
-- index: verification_jobs_refused, verification_jobs_pkey
WITH told AS (
    DELETE FROM verification_jobs
    WHERE client = %(client)s AND error_code = 'refused' AND created_at < %(now)s - interval '5 s'
)
INSERT INTO verification_jobs (id, client, address, status, created_at, due_at, finished_at, error_code, message,
    form_field)
VALUES (%(id)s::uuid, %(client)s, %(address)s, 'failed', %(now)s, %(now)s, %(now)s, 'refused', %(message)s,
    %(form_field)s);
