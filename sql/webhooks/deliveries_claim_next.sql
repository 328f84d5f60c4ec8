-- Claims the next delivery of a queue for an attempt: tried ones that are due again by their time, then
-- fresh ones in chain order. Once the claim is committed the receiver may have seen the delivery, even if
-- this process dies.
-- params: webhook_id bigint, now timestamptz, confirmations integer
-- returns: no row when nothing is due; else id, event, body, attempts, sent (before this attempt)
-- index: deliveries_tried, deliveries_fresh, event_bodies_pkey
WITH due AS (
    (SELECT id, sent, 1 AS turn
    FROM deliveries
    WHERE webhook_id = %(webhook_id)s AND status = 'pending' AND tried_since IS NOT NULL
        AND retry_at <= %(now)s
    ORDER BY retry_at, id
    LIMIT 1)
    UNION ALL
    (SELECT id, sent, 2
    FROM deliveries
    WHERE webhook_id = %(webhook_id)s AND status = 'pending' AND tried_since IS NULL
        AND coalesce(block_number, -1)
            <= greatest((SELECT max(number) FROM blocks) - %(confirmations)s, -1)
    ORDER BY coalesce(block_number, -1), id
    LIMIT 1)
    ORDER BY turn
    LIMIT 1
)
UPDATE deliveries d
SET tried_since = coalesce(d.tried_since, %(now)s),
    attempted_at = %(now)s,
    retry_at = %(now)s,
    sent = true
FROM due
WHERE d.id = due.id
RETURNING d.id, d.event, delivery_body(d), d.attempts, due.sent;
