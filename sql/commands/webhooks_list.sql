-- The active webhooks of all or of one owner or person, the newest first; of the URLs scheme and host.
-- params: owner bytea null, person text null
-- returns: id bigint, owner text, watched address or number of addresses text, events text, URL text, creation text,
--   the key with which it was made bigint or null, person text or null
-- index: none
SELECT w.id, hex(w.owner_address), coalesce(hex(w.watch_address), w.address_count || ' addresses'),
    array_to_string(w.event_types, ','), substring(w.url FROM '^[^:]+://[^/?#]*'), iso(w.created_at), w.maker_key, w.maker_user
FROM webhooks w
WHERE w.active AND (%(owner)s::bytea IS NULL OR w.owner_address = %(owner)s)
    AND (%(person)s::text IS NULL OR w.maker_user = %(person)s)
ORDER BY w.created_at DESC, w.id DESC;
