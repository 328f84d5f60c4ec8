-- The verifications that have ended since a time, or without it in `passed_s`, and in the 5 s before, as their
-- transactions may have been committed later; of the newest 1,000 that were requested in an hour before now.
-- params: since timestamptz null, passed_s double precision
-- literals: none
-- returns: one row: now, JSON array of {id, client, address, status, message, formField}
-- index: verification_jobs_by_age
SELECT now(), json_list((
    SELECT string_agg(json_build_object(
        'id', j.id, 'client', j.client, 'address', hex(j.address), 'status', j.status,
        'message', j.message, 'formField', j.form_field)::text, ',')
    FROM (
        SELECT v.id, v.client, v.address, v.status, v.message, v.form_field, v.finished_at
        FROM verification_jobs v
        WHERE v.created_at > now() - interval '1 hour'
        ORDER BY v.created_at DESC
        LIMIT 1000) AS j
    WHERE j.finished_at > coalesce(%(since)s, now() - make_interval(secs => %(passed_s)s)) - interval '5 s'));
