-- Adds addresses to a webhook's list and removes others from it. The caller has locked its queue.
-- params: webhook_id bigint, add bytea[], remove bytea[]
-- returns: how many were added and removed, how many it watches now, and its types of events
-- index: webhook_addresses_pkey, webhooks_pkey
WITH added AS (
    INSERT INTO webhook_addresses (address, webhook_id)
    SELECT DISTINCT a.address, %(webhook_id)s::bigint
    FROM unnest(%(add)s::bytea[]) AS a (address)
    ON CONFLICT DO NOTHING
    RETURNING 1
), removed AS (
    DELETE FROM webhook_addresses
    WHERE webhook_id = %(webhook_id)s AND address = ANY (%(remove)s::bytea[])
    RETURNING 1
), counted AS (
    SELECT (SELECT count(*) FROM added) AS added, (SELECT count(*) FROM removed) AS removed
)
UPDATE webhooks w
SET address_count = w.address_count + c.added - c.removed
FROM counted c
WHERE w.id = %(webhook_id)s
RETURNING c.added, c.removed, w.address_count, w.event_types;
