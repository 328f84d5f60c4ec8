-- Unwinds the events of orphaned blocks. Waiting ones are cancelled, also during an attempt. An event that
-- a receiver may have seen is followed by the same event with data.removed, the newest first and without
-- waiting for confirmations. `data` is the last key of every body. A delivery that was restored without its
-- body cannot be revoked, and does not hold up the indexer.
-- params: last_kept bigint, now timestamptz
-- returns: nothing
-- index: deliveries_by_block, webhooks_pkey, event_bodies_pkey
WITH lost AS (
    UPDATE deliveries
    SET orphaned = true,
        status = CASE WHEN status = 'pending' THEN 'cancelled' ELSE status END,
        error = CASE WHEN status = 'pending' THEN 'its block was orphaned' ELSE error END,
        finished_at = coalesce(finished_at, %(now)s),
        retry_at = NULL
    WHERE block_number > %(last_kept)s AND NOT orphaned
    RETURNING id, webhook_id, event, body_id, sent
), sent AS (
    SELECT l.body_id, min(l.event) AS event,
        array_agg(l.id) AS delivery_ids, array_agg(l.webhook_id) AS webhook_ids
    FROM lost l
    JOIN webhooks w ON w.id = l.webhook_id AND w.active
    WHERE l.sent
    GROUP BY l.body_id
), revoked AS MATERIALIZED (
    SELECT nextval(pg_get_serial_sequence('event_bodies', 'id')) AS body_id, s.event,
        with_members(left(e.body, -1), json_member('removed', 'true')) || '}' AS body, s.delivery_ids, s.webhook_ids
    FROM sent s
    JOIN event_bodies e ON e.id = s.body_id
), stored AS (
    INSERT INTO event_bodies (id, body)
    SELECT body_id, body FROM revoked
)
INSERT INTO deliveries (webhook_id, event, removed, body_id, body_bytes, created_at)
SELECT o.webhook_id, r.event, true, r.body_id, octet_length(r.body), %(now)s
FROM revoked r
CROSS JOIN unnest(r.delivery_ids, r.webhook_ids) AS o (delivery_id, webhook_id)
ORDER BY o.delivery_id DESC;
