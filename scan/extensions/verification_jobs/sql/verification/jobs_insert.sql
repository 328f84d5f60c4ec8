-- Adds a job that may run at once.
-- params: id text, client text, address bytea, request text, form_field text null, now timestamptz
-- returns: nothing
-- index: verification_jobs_pkey
INSERT INTO verification_jobs (id, client, address, request, form_field, created_at, due_at)
VALUES (%(id)s::uuid, %(client)s, %(address)s, %(request)s::json, %(form_field)s, %(now)s, %(now)s);
