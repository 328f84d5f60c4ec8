-- Keeps the rows of addresses from where lists begin on, and where asked those of the addresses that webhooks watch now.
-- Lists do not begin later before the addresses are seen by what removes rows.
-- params: addresses bytea[], are_watched boolean
-- returns: nothing
-- index: kept_addresses_pkey, webhooks_pkey
INSERT INTO kept_addresses (address, complete_from)
SELECT a.address, coalesce((SELECT r.first_block FROM retention r FOR SHARE), 0)
FROM (
    SELECT unnest(%(addresses)s::bytea[])
    UNION
    SELECT w.address FROM webhook_addresses w WHERE %(are_watched)s
    UNION
    SELECT w.watch_address FROM webhooks w WHERE %(are_watched)s AND w.watch_address IS NOT NULL AND w.active
) AS a (address)
ON CONFLICT DO NOTHING;
