-- Stops a webhook: no new event is written for it.
-- params: webhook_id bigint, reason text null
-- returns: nothing
-- index: webhooks_pkey
UPDATE webhooks
SET active = false, stopped_reason = %(reason)s
WHERE id = %(webhook_id)s AND active;
