-- Has queues of this transaction serve the deliveries that were restored with them, and lets their webhooks receive
-- events from the first block after the file's on. A file without deliveries, of an older version, names in the queue
-- the first block that was not sent.
-- params: newest_block bigint, has_deliveries boolean
-- returns: nothing
-- index: webhooks_pkey, delivery_queues_pkey, deliveries_fresh, deliveries_tried
WITH queues AS (
    SELECT q.webhook_id, CASE WHEN NOT %(has_deliveries)s THEN nullif(q.fresh_block, -1) END AS first_block
    FROM delivery_queues q
    WHERE q.xmin = pg_current_xact_id()::xid
), webhooks_begun AS (
    UPDATE webhooks w
    SET first_block = greatest(w.first_block, coalesce(q.first_block, %(newest_block)s + 1))
    FROM queues q
    WHERE w.id = q.webhook_id
)
UPDATE delivery_queues q
SET (fresh_block, retry_at, pending_count, pending_bytes) = (
    SELECT w.fresh_block, w.retry_at, w.pending_count, w.pending_bytes
    FROM waiting_deliveries(q.webhook_id) w)
WHERE q.webhook_id IN (SELECT o.webhook_id FROM queues o);
