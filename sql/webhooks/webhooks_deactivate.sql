-- Stops a webhook: no new event is written for it.
-- params: webhook_id bigint
-- returns: nothing
-- index: webhooks_pkey
UPDATE webhooks SET active = false WHERE id = %(webhook_id)s AND active;
