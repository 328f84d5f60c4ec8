-- The deliveries of webhooks for a file of owners' data, of a database of any version: those that wait, and the
-- newest 1,000 others of each webhook, with their bodies.
-- params: none
-- returns: JSON of each
-- index: webhooks_pkey, deliveries_fresh, deliveries_tried, deliveries_by_webhook, event_bodies_pkey
SELECT to_json(written)
FROM (
    SELECT d.id, d.webhook_id, d.block_number, d.status, d.event, d.removed, d.orphaned, d.sent, d.attempts,
        d.created_at, d.tried_since, d.retry_at, d.attempted_at, d.finished_at, d.response_code, d.error, e.body
    FROM webhooks w
    CROSS JOIN LATERAL (
        SELECT p.*
        FROM deliveries p
        WHERE p.webhook_id = w.id AND p.status = 'pending' AND p.tried_since IS NULL
        UNION ALL
        SELECT p.*
        FROM deliveries p
        WHERE p.webhook_id = w.id AND p.status = 'pending' AND p.tried_since IS NOT NULL
        UNION ALL
        (SELECT f.*
        FROM deliveries f
        WHERE f.webhook_id = w.id AND f.status <> 'pending'
        ORDER BY f.id DESC
        LIMIT 1000)
    ) AS d
    JOIN event_bodies e ON e.id = d.body_id
    ORDER BY d.id
) AS written;
