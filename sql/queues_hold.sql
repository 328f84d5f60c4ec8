-- Locks the queue that a lease is for, so that what follows in the transaction is not interleaved.
-- params: webhook_id bigint, lease bigint
-- returns: no row when the lease is lost; else whether the webhook is active
-- index: delivery_queues_pkey, webhooks_pkey
SELECT w.active
FROM delivery_queues q
JOIN webhooks w ON w.id = q.webhook_id
WHERE q.webhook_id = %(webhook_id)s AND q.lease = %(lease)s
FOR UPDATE OF q;
