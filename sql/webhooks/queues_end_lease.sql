-- Gives a lease back; the queue goes to the end of the line.
-- params: webhook_id bigint, now timestamptz
-- returns: nothing
-- index: delivery_queues_pkey
UPDATE delivery_queues
SET lease = NULL, lease_holder = NULL, leased_until = %(now)s
WHERE webhook_id = %(webhook_id)s;
