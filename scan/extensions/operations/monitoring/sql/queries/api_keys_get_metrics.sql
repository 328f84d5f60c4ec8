-- Requests with the keys that operators made, of the 200 with most requests.
-- params: none
-- returns: a row for each key: id text, label text, requests bigint
-- index: api_keys_signed_once
SELECT k.id::text, k.label, k.total_requests
FROM api_keys k
WHERE k.owner_address IS NULL AND k.active
ORDER BY k.total_requests DESC, k.id
LIMIT 200;
