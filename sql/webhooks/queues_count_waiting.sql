-- Counts anew what queues hold: see waiting_deliveries().
-- params: webhook_ids bigint[]
-- returns: nothing
-- index: delivery_queues_pkey, deliveries_fresh, deliveries_tried
UPDATE delivery_queues q
SET (fresh_block, retry_at, pending_count, pending_bytes) = (
    SELECT w.fresh_block, w.retry_at, w.pending_count, w.pending_bytes
    FROM waiting_deliveries(q.webhook_id) w)
WHERE q.webhook_id = ANY (%(webhook_ids)s);
