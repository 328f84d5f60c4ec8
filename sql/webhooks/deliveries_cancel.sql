-- Gives up all waiting deliveries of a webhook that is not active. The caller has locked its queue.
-- params: webhook_id bigint, now timestamptz, error text
-- literals: none
-- returns: nothing
-- index: deliveries_fresh, deliveries_tried, webhooks_pkey
UPDATE deliveries
SET status = 'cancelled', finished_at = %(now)s, retry_at = NULL, error = %(error)s
WHERE webhook_id = %(webhook_id)s AND status = 'pending'
    AND (SELECT NOT w.active FROM webhooks w WHERE w.id = %(webhook_id)s);
