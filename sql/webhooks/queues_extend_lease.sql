-- Keeps a lease for one more attempt, and locks its queue, so that other processes' changes to it do not
-- interleave with the rest of the transaction.
-- params: webhook_id bigint, lease bigint, leased_until timestamptz
-- returns: no row when the lease is lost; else whether the webhook is active
-- index: delivery_queues_pkey, webhooks_pkey
UPDATE delivery_queues q
SET leased_until = %(leased_until)s
FROM webhooks w
WHERE q.webhook_id = %(webhook_id)s AND q.lease = %(lease)s AND w.id = q.webhook_id
RETURNING w.active;
