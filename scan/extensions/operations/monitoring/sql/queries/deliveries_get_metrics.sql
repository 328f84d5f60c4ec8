-- The numbers and ages of waiting deliveries, for /metrics.
-- params: none
-- returns: one row: events pending, seconds since the oldest of them, and since the oldest that was never
--   tried (each null without one), active webhooks, and those that the service stopped
-- index: deliveries_fresh, deliveries_tried, webhooks_by_watch_address
SELECT count(*),
    extract(epoch FROM now() - min(waiting.created_at)),
    extract(epoch FROM now() - min(waiting.created_at) FILTER (WHERE waiting.is_untried)),
    (SELECT count(*) FROM webhooks w WHERE w.active),
    (SELECT count(*) FROM webhooks w WHERE w.stopped_reason IS NOT NULL)
FROM (
    SELECT d.created_at, true AS is_untried
    FROM deliveries d
    WHERE d.status = 'pending' AND d.tried_since IS NULL
    UNION ALL
    SELECT d.created_at, false FROM deliveries d WHERE d.status = 'pending' AND d.tried_since IS NOT NULL
) AS waiting;
