-- A webhook's owner, the address it watches, and whether it is active.
-- params: webhook_id bigint
-- returns: no row for one that does not exist; else owner_address, watch_address, active
-- index: webhooks_pkey
SELECT owner_address, watch_address, active FROM webhooks WHERE id = %(webhook_id)s;
