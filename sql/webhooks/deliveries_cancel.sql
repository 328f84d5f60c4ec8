-- Gives up all waiting deliveries of a webhook, whose queue the caller has locked.
-- params: webhook_id bigint, now timestamptz, error text
-- returns: nothing
-- index: deliveries_fresh, deliveries_tried
UPDATE deliveries
SET status = 'cancelled', finished_at = %(now)s, retry_at = NULL, error = %(error)s
WHERE webhook_id = %(webhook_id)s AND status = 'pending';
