-- A webhook's owner, the address it watches (null: a list), whether it is active, the client that it is counted for,
-- whether a secret is its own, its types of events, whether that key or person made it, and how many addresses it
-- watches.
-- params: webhook_id bigint, secret_digest bytea null, maker_key bigint null, maker_user text null
-- returns: no row for one that does not exist; else owner_address, watch_address, active, client_address,
--   has_secret, event_types, is_maker, address_count
-- index: webhooks_pkey, webhook_secrets_pkey
SELECT w.owner_address, w.watch_address, w.active, w.client_address,
    coalesce(sha256(convert_to(s.secret, 'UTF8')) = %(secret_digest)s, false), w.event_types,
    coalesce(w.maker_key = %(maker_key)s, w.maker_user = %(maker_user)s, false), w.address_count
FROM webhooks w
JOIN webhook_secrets s ON s.webhook_id = w.id
WHERE w.id = %(webhook_id)s;
