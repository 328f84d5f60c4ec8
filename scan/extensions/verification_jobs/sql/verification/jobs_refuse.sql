-- Adds a job that has failed before it began, in place of those of its client that are older than 5 s, and of the
-- oldest of all beyond 500.
-- params: id text, client text, address bytea, message text, form_field text, now timestamptz
-- returns: nothing
-- index: verification_jobs_refused, verification_jobs_pkey
WITH removed AS (
    DELETE FROM verification_jobs
    WHERE error_code = 'refused' AND (
        client = %(client)s AND created_at < %(now)s - interval '5 s'
        OR id = ANY (ARRAY(
            SELECT r.id
            FROM verification_jobs r
            WHERE r.error_code = 'refused'
            ORDER BY r.created_at DESC, r.id
            OFFSET 500)))
)
INSERT INTO verification_jobs (id, client, address, status, created_at, due_at, finished_at, error_code, message,
    form_field)
VALUES (%(id)s::uuid, %(client)s, %(address)s, 'failed', %(now)s, %(now)s, %(now)s, 'refused', %(message)s,
    %(form_field)s);
