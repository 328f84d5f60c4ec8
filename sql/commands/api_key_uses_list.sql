-- Requests with keys by day (UTC), the newest day first, then those with most requests.
-- params: ids bigint[] null (all), days integer
-- returns: day text, id bigint, prefix text, requests bigint, label text
-- index: api_keys_pkey
SELECT d.day::text, k.id, k.key_prefix, d.requests, k.label
FROM api_key_uses d
JOIN api_keys k ON k.id = d.key_id
WHERE d.day > (now() AT TIME ZONE 'UTC')::date - %(days)s
    AND (%(ids)s::bigint[] IS NULL OR d.key_id = ANY (%(ids)s::bigint[]))
ORDER BY d.day DESC, d.requests DESC, k.id;
