-- Makes one delivery due at once, with all its retries; a pending one is only hurried.
-- params: id bigint, webhook_id bigint, now timestamptz
-- returns: no row where the webhook has no such delivery; else whether its block was orphaned,
--   in which case nothing is changed
-- index: deliveries_pkey
WITH delivery AS (
    SELECT id, orphaned FROM deliveries WHERE id = %(id)s AND webhook_id = %(webhook_id)s
), again AS (
    UPDATE deliveries d
    SET attempts = CASE WHEN d.status = 'pending' THEN d.attempts ELSE 0 END,
        tried_since = CASE WHEN d.status = 'pending' THEN d.tried_since ELSE %(now)s END,
        retry_at = CASE WHEN d.tried_since IS NOT NULL OR d.status <> 'pending'
            THEN %(now)s::timestamptz END,
        status = 'pending',
        finished_at = NULL
    FROM delivery
    WHERE d.id = delivery.id AND NOT delivery.orphaned
)
SELECT orphaned FROM delivery;
