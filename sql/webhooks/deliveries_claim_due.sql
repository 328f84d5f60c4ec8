-- Takes the lease of one queue with something to do: of those that may be served, the longest unserved; and
-- begins its first attempt, where it has a format that of several deliveries, which are sent as one message. An expired lease counts as none. Several processes may claim at once. A host's
-- healthy queues are counted apart from its others, so that a receiver that hangs does not hold them up.
-- params: now timestamptz, confirmations integer, healthy_only boolean, max_per_host integer,
--   max_unhealthy_per_host integer, lease bigint, lease_holder integer, leased_until timestamptz,
--   most_joined integer
-- literals: none
-- returns: no row when there is nothing; else for each delivery webhook_id, url, format, secrets, is_healthy and its id,
--   event, body, attempts, sent (before this attempt), which are null where the webhook is not active, or where
--   another process has just served the queue
-- index: delivery_queues_waiting, webhooks_pkey, deliveries_tried, deliveries_fresh, event_bodies_pkey
WITH crowded AS MATERIALIZED (
    SELECT host, is_healthy
    FROM delivery_queues
    WHERE leased_until > %(now)s AND lease IS NOT NULL AND (fresh_block IS NOT NULL OR retry_at IS NOT NULL)
    GROUP BY host, is_healthy
    HAVING count(*) >= CASE WHEN is_healthy THEN %(max_per_host)s
        ELSE %(max_unhealthy_per_host)s END
), due AS (
    SELECT q.webhook_id
    FROM delivery_queues q
    JOIN webhooks w ON w.id = q.webhook_id
    WHERE (q.fresh_block IS NOT NULL OR q.retry_at IS NOT NULL)
        AND q.leased_until <= %(now)s
        AND (
            q.fresh_block
                <= (SELECT max(number) FROM blocks) - coalesce(w.confirmations, %(confirmations)s)
            OR q.fresh_block < 0
            OR q.retry_at <= %(now)s
        )
        AND (q.is_healthy OR NOT %(healthy_only)s)
        AND (q.host, q.is_healthy) NOT IN (SELECT host, is_healthy FROM crowded)
    ORDER BY q.leased_until, q.webhook_id
    LIMIT 1
    FOR UPDATE OF q SKIP LOCKED
), leased AS (
    UPDATE delivery_queues q
    SET lease = %(lease)s,
        lease_holder = %(lease_holder)s,
        leased_until = %(leased_until)s
    FROM due, webhooks w
    WHERE q.webhook_id = due.webhook_id AND w.id = due.webhook_id
    RETURNING w.id, w.url, w.active, w.confirmations, w.format, signing_secrets(w.id, %(now)s) AS secrets, q.is_healthy
)
SELECT l.id, l.url, l.format, l.secrets, l.is_healthy, d.id, d.event, d.body, d.attempts, d.sent
FROM leased l
LEFT JOIN LATERAL begin_deliveries(
    CASE WHEN l.active THEN l.id END, %(now)s, coalesce(l.confirmations, %(confirmations)s),
    CASE WHEN l.format IS NULL THEN 1 ELSE %(most_joined)s END) d ON true;
