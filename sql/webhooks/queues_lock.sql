-- Locks a webhook's queue, as every process does that is about to change its deliveries.
-- params: webhook_id bigint
-- literals: none
-- returns: no row when the webhook is gone; else its id
-- index: delivery_queues_pkey
SELECT webhook_id FROM delivery_queues WHERE webhook_id = %(webhook_id)s FOR UPDATE;
