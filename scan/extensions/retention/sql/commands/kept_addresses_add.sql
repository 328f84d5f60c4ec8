-- Keeps the rows of addresses from where lists begin on, and where asked those of the addresses that webhooks watch now.
-- params: addresses bytea[], are_watched boolean
-- returns: nothing
-- index: kept_addresses_pkey, webhooks_pkey
INSERT INTO kept_addresses (address)
SELECT a.address FROM unnest(%(addresses)s::bytea[]) AS a (address)
UNION
SELECT w.address FROM webhook_addresses w WHERE %(are_watched)s
UNION
SELECT w.watch_address FROM webhooks w WHERE %(are_watched)s AND w.watch_address IS NOT NULL AND w.active
ON CONFLICT DO NOTHING;
