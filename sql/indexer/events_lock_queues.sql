-- Locks the queues that have events of blocks about to be unwound, in the order of their webhooks.
-- params: last_kept bigint
-- returns: webhook_id for each
-- index: deliveries_by_block, delivery_queues_pkey
SELECT q.webhook_id
FROM delivery_queues q
WHERE q.webhook_id IN (
    SELECT d.webhook_id
    FROM deliveries d
    WHERE d.block_number > %(last_kept)s AND NOT d.orphaned
)
ORDER BY q.webhook_id
FOR UPDATE;
