-- Counts anew what queues hold. The caller has locked them in an earlier statement, so that this one sees
-- what others have committed before.
-- params: webhook_ids bigint[]
-- returns: nothing
-- index: delivery_queues_pkey, deliveries_fresh, deliveries_tried
UPDATE delivery_queues q
SET fresh_block = (
        SELECT coalesce(d.block_number, -1)
        FROM deliveries d
        WHERE d.webhook_id = q.webhook_id AND d.status = 'pending' AND d.tried_since IS NULL
        ORDER BY coalesce(d.block_number, -1), d.id
        LIMIT 1
    ),
    retry_at = (
        SELECT min(d.retry_at)
        FROM deliveries d
        WHERE d.webhook_id = q.webhook_id AND d.status = 'pending' AND d.tried_since IS NOT NULL
    ),
    (pending_count, pending_bytes) = (
        SELECT count(*), coalesce(sum(p.body_bytes), 0)
        FROM (
            SELECT d.body_bytes
            FROM deliveries d
            WHERE d.webhook_id = q.webhook_id AND d.status = 'pending' AND d.tried_since IS NULL
            UNION ALL
            SELECT d.body_bytes
            FROM deliveries d
            WHERE d.webhook_id = q.webhook_id AND d.status = 'pending' AND d.tried_since IS NOT NULL
        ) AS p
    )
WHERE q.webhook_id = ANY (%(webhook_ids)s);
