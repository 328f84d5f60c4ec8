-- Keeps a lease for one more attempt.
-- params: webhook_id bigint, leased_until timestamptz
-- returns: nothing
-- index: delivery_queues_pkey
UPDATE delivery_queues SET leased_until = %(leased_until)s WHERE webhook_id = %(webhook_id)s;
