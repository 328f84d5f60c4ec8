-- Begins a request with an Idempotency-Key where nobody else answers or has answered it, and its client has room for
-- another; of a process that dies meanwhile it ends by itself. Removes some that have ended.
-- params: key_hash bytea, client text, request_hash bytea, most integer
-- literals: none
-- returns: one row: whether it has begun, and whether there was no room; of the one there was, request_hash, and its
--   answer, null before its end
-- index: idempotent_requests_pkey, idempotent_requests_by_client, idempotent_requests_ended
WITH ended AS (
    DELETE FROM idempotent_requests
    WHERE key_hash <> %(key_hash)s AND key_hash IN (
        SELECT key_hash FROM idempotent_requests WHERE ends_at <= now() ORDER BY ends_at LIMIT 10 FOR UPDATE SKIP LOCKED)
), kept AS (
    SELECT count(*) >= %(most)s AS are_most FROM idempotent_requests WHERE client = %(client)s AND ends_at > now()
), begun AS (
    INSERT INTO idempotent_requests AS r (key_hash, client, request_hash, ends_at)
    SELECT %(key_hash)s, %(client)s, %(request_hash)s, now() + interval '1 minute' FROM kept WHERE NOT are_most
    ON CONFLICT (key_hash) DO UPDATE
    SET request_hash = EXCLUDED.request_hash, answer = NULL, ends_at = EXCLUDED.ends_at
    WHERE r.ends_at <= now()
    RETURNING 1
)
SELECT EXISTS (SELECT FROM begun), k.are_most, r.request_hash, r.answer
FROM kept k
LEFT JOIN idempotent_requests r ON r.key_hash = %(key_hash)s AND r.ends_at > now();
