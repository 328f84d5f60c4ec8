-- The active keys of all owners or of one, newest first.
-- params: owner bytea null
-- returns: id bigint, prefix text, owner text, requests a minute integer, requests in all bigint,
--   last use text or null before the first, label text
-- index: none
SELECT
    id, key_prefix, hex(owner_address), requests_per_minute, total_requests,
    CASE WHEN total_requests > 0 THEN iso(last_used_at) END, label
FROM api_keys
WHERE active AND (%(owner)s::bytea IS NULL OR owner_address = %(owner)s)
ORDER BY created_at DESC, id DESC;
