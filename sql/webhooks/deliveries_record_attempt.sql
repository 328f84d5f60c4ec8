-- Records how an attempt ended, on the delivery and on its queue. A delivery that was cancelled
-- meanwhile stays so.
-- params: id bigint, webhook_id bigint, now timestamptz, status text, retry_at timestamptz null,
--   response_code integer null, error text null, sent boolean, is_quick boolean
-- returns: whether no attempt of the webhook has succeeded since this delivery was first tried
-- index: deliveries_pkey, delivery_queues_pkey
WITH recorded AS (
    UPDATE deliveries
    SET attempts = attempts + 1,
        status = %(status)s,
        retry_at = %(retry_at)s,
        finished_at = CASE WHEN %(status)s <> 'pending' THEN %(now)s::timestamptz END,
        response_code = %(response_code)s,
        error = %(error)s,
        sent = %(sent)s
    WHERE id = %(id)s AND status = 'pending'
    RETURNING body_bytes
), counted AS (
    UPDATE delivery_queues
    SET fail_count = CASE WHEN %(status)s = 'delivered' THEN 0 ELSE fail_count + 1 END,
        is_healthy = %(status)s = 'delivered' AND %(is_quick)s,
        last_triggered_at = %(now)s,
        pending_count = pending_count
            - CASE WHEN %(status)s = 'pending' THEN 0 ELSE (SELECT count(*) FROM recorded) END,
        pending_bytes = pending_bytes - CASE WHEN %(status)s = 'pending' THEN 0
            ELSE coalesce((SELECT body_bytes FROM recorded), 0) END,
        last_success_at =
            CASE WHEN %(status)s = 'delivered' THEN %(now)s::timestamptz ELSE last_success_at END
    WHERE webhook_id = %(webhook_id)s
    RETURNING last_success_at
)
SELECT coalesce(c.last_success_at < d.tried_since, true)
FROM counted c
LEFT JOIN deliveries d ON d.id = %(id)s;
