-- A webhook's owner, the address it watches (null: a list), whether it is active, the client that it is counted for,
-- whether a secret is its own, and its types of events.
-- params: webhook_id bigint, secret_digest bytea null
-- returns: no row for one that does not exist; else owner_address, watch_address, active, client_address,
--   has_secret, event_types
-- index: webhooks_pkey, webhook_secrets_pkey
SELECT w.owner_address, w.watch_address, w.active, w.client_address,
    coalesce(sha256(convert_to(s.secret, 'UTF8')) = %(secret_digest)s, false), w.event_types
FROM webhooks w
JOIN webhook_secrets s ON s.webhook_id = w.id
WHERE w.id = %(webhook_id)s;
