-- Adds a job that may run at once.
-- params: id text, client text, address bytea, request text, now timestamptz
-- returns: nothing
-- index: verification_jobs_pkey
INSERT INTO verification_jobs (id, client, address, request, created_at, due_at)
VALUES (%(id)s::uuid, %(client)s, %(address)s, %(request)s::json, %(now)s, %(now)s);
