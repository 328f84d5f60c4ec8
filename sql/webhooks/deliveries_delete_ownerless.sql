-- Removes waiting deliveries of deleted webhooks: events written while one was being deleted.
-- params: limit integer
-- returns: the number removed
-- index: deliveries_fresh, webhooks_pkey
WITH deleted AS (
    DELETE FROM deliveries
    WHERE id IN (
        SELECT d.id
        FROM deliveries d
        WHERE d.status = 'pending'
            AND NOT EXISTS (SELECT FROM webhooks w WHERE w.id = d.webhook_id)
        LIMIT %(limit)s
        FOR UPDATE SKIP LOCKED
    )
    RETURNING 1
)
SELECT count(*) FROM deleted;
