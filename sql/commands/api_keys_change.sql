-- Changes an active key of any owner; what is null stays as it is.
-- params: id bigint, label text null, requests_per_minute integer null, days integer null (0: without end)
-- returns: no row where no such key is active, or its requests a minute integer, its end text or null,
--   label text
-- index: api_keys_pkey
UPDATE api_keys
SET
    label = coalesce(%(label)s::text, label),
    requests_per_minute = coalesce(%(requests_per_minute)s::integer, requests_per_minute),
    expires_at = CASE
        WHEN %(days)s::integer IS NULL THEN expires_at
        WHEN %(days)s::integer > 0 THEN now() + %(days)s::integer * interval '1 day' END
WHERE id = %(id)s AND active
RETURNING requests_per_minute, iso(expires_at), label;
