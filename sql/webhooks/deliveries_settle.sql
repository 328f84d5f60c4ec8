-- Records how an attempt under a lease ended: on the delivery, on its queue, which the caller has locked,
-- and on a webhook that is stopped for it. A delivery that was cancelled meanwhile stays so. An attempt that
-- is recorded already, on a connection that was lost at that moment, is not counted again.
-- params: webhook_id bigint, lease bigint, id bigint, attempts integer, now timestamptz, status text,
--   retry_at timestamptz null, response_code integer null, error text null, sent boolean,
--   is_quick boolean, stop_reason text null, is_gone boolean
-- literals: none
-- returns: nothing
-- index: deliveries_pkey, delivery_queues_pkey, webhooks_pkey
WITH attempted AS (
    SELECT d.id, d.tried_since
    FROM delivery_queues q
    JOIN deliveries d ON d.id = %(id)s AND d.attempts = %(attempts)s
    WHERE q.webhook_id = %(webhook_id)s AND q.lease = %(lease)s
), recorded AS (
    UPDATE deliveries d
    SET attempts = d.attempts + 1,
        status = %(status)s,
        retry_at = %(retry_at)s,
        finished_at = CASE WHEN %(status)s <> 'pending' THEN %(now)s::timestamptz END,
        response_code = %(response_code)s,
        error = %(error)s,
        sent = %(sent)s
    FROM attempted a
    WHERE d.id = a.id AND d.status = 'pending'
    RETURNING d.body_bytes
), counted AS (
    UPDATE delivery_queues q
    SET fail_count = CASE WHEN %(status)s = 'delivered' THEN 0 ELSE q.fail_count + 1 END,
        is_healthy = %(status)s = 'delivered' AND %(is_quick)s,
        last_triggered_at = %(now)s,
        pending_count = q.pending_count
            - CASE WHEN %(status)s = 'pending' THEN 0 ELSE (SELECT count(*) FROM recorded) END,
        pending_bytes = q.pending_bytes - CASE WHEN %(status)s = 'pending' THEN 0
            ELSE coalesce((SELECT body_bytes FROM recorded), 0) END,
        last_success_at =
            CASE WHEN %(status)s = 'delivered' THEN %(now)s::timestamptz ELSE q.last_success_at END
    FROM attempted a
    WHERE q.webhook_id = %(webhook_id)s
    RETURNING %(is_gone)s OR coalesce(q.last_success_at < a.tried_since, true) AS is_hopeless
)
UPDATE webhooks w
SET active = false, stopped_reason = %(stop_reason)s
FROM counted c
WHERE w.id = %(webhook_id)s AND w.active AND c.is_hopeless AND %(stop_reason)s IS NOT NULL;
