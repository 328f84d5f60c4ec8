-- The active keys of all owners or of one, or that one person made, newest first.
-- params: owner bytea null, person text null
-- returns: id bigint, prefix text, owner text or "operator", requests a minute integer, requests in all
--   bigint, last use text or null before the first, end text or null for none, label text
-- index: none
SELECT
    id, key_prefix, coalesce(hex(owner_address), 'operator'), requests_per_minute, total_requests,
    CASE WHEN total_requests > 0 THEN iso(last_used_at) END, iso(expires_at), label
FROM api_keys
WHERE active AND (%(owner)s::bytea IS NULL OR owner_address = %(owner)s)
    AND (%(person)s::text IS NULL OR maker_user = %(person)s)
ORDER BY created_at DESC, id DESC;
