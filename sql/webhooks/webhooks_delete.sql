-- Removes a webhook, its secret and its queue, which the caller has locked.
-- params: webhook_id bigint
-- returns: nothing
-- index: webhooks_pkey
DELETE FROM webhooks WHERE id = %(webhook_id)s;
