-- Unwinds the events of orphaned blocks: what still waits is cancelled, also where an attempt
-- is under way; what a receiver may have seen is followed by the same event with data.removed,
-- the newest first, and at once: what undoes a block waits for no confirmation.
-- params: last_kept bigint, now timestamptz
-- returns: nothing
-- index: deliveries_by_block, webhooks_pkey
WITH lost AS (
    UPDATE deliveries
    SET orphaned = true,
        status = CASE WHEN status = 'pending' THEN 'cancelled' ELSE status END,
        error = CASE WHEN status = 'pending' THEN 'its block was orphaned' ELSE error END,
        finished_at = coalesce(finished_at, %(now)s),
        retry_at = NULL
    WHERE block_number > %(last_kept)s AND NOT orphaned
    RETURNING id, webhook_id, event, body, sent
)
INSERT INTO deliveries (webhook_id, event, removed, body, created_at)
SELECT l.webhook_id, l.event, true,
    jsonb_set(l.body::jsonb, '{data,removed}', 'true')::text, %(now)s
FROM lost l
JOIN webhooks w ON w.id = l.webhook_id AND w.active
WHERE l.sent
ORDER BY l.id DESC;
