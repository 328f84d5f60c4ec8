-- Keeps the answer of a request with an Idempotency-Key for a day; without one ends it, so that it may be repeated.
-- params: key_hash bytea, answer bytea null
-- literals: none
-- returns: nothing
-- index: idempotent_requests_pkey
UPDATE idempotent_requests
SET answer = %(answer)s, ends_at = now() + CASE WHEN %(answer)s::bytea IS NULL THEN '0' ELSE '24 hours' END::interval
WHERE key_hash = %(key_hash)s;
