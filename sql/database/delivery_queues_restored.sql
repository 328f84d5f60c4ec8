-- Lets webhooks of this transaction receive events from the first block that was not sent when the file was
-- written, or else from the first after it.
-- params: newest_block bigint
-- returns: nothing
-- index: webhooks_pkey, delivery_queues_pkey
WITH queues AS (
    SELECT q.webhook_id, q.fresh_block
    FROM delivery_queues q
    WHERE q.xmin = pg_current_xact_id()::xid
), webhooks_begun AS (
    UPDATE webhooks w
    SET first_block = greatest(w.first_block, coalesce(nullif(q.fresh_block, -1), %(newest_block)s + 1))
    FROM queues q
    WHERE w.id = q.webhook_id
)
UPDATE delivery_queues SET fresh_block = NULL
WHERE webhook_id IN (SELECT q.webhook_id FROM queues q);
