-- Keeps a lease and begins the next attempt under it. Where none is due, the webhook is not active or no
-- longer what the lease says, or nothing more is to be sent, ends the lease: the queue goes to the end of the line, where it is not served before
-- `released_until`. The caller has locked it.
-- params: webhook_id bigint, lease bigint, now timestamptz, confirmations integer,
--   leased_until timestamptz, goes_on boolean, released_until timestamptz, most_joined integer,
--   url text, format text null, secrets text[]
-- literals: none
-- returns: no row when no attempt is begun or the lease is lost; else for each delivery its id, event, body, attempts,
--   sent (before this attempt)
-- index: delivery_queues_pkey, webhooks_pkey, deliveries_tried, deliveries_fresh, event_bodies_pkey
WITH held AS MATERIALIZED (
    SELECT q.webhook_id, coalesce(w.confirmations, %(confirmations)s) AS confirmations,
        CASE WHEN w.format IS NULL THEN 1 ELSE %(most_joined)s END AS most
    FROM delivery_queues q
    JOIN webhooks w ON w.id = q.webhook_id
    WHERE q.webhook_id = %(webhook_id)s AND q.lease = %(lease)s AND w.active AND %(goes_on)s
        AND (w.url, w.format, signing_secrets(w.id, %(now)s))
            IS NOT DISTINCT FROM (%(url)s, %(format)s, %(secrets)s::text[])
), next AS MATERIALIZED (
    SELECT d.id, d.event, d.body, d.attempts, d.sent
    FROM held h
    CROSS JOIN LATERAL begin_deliveries(h.webhook_id, %(now)s, h.confirmations, h.most) d
), kept AS (
    UPDATE delivery_queues q
    SET leased_until = %(leased_until)s
    WHERE q.webhook_id = %(webhook_id)s AND EXISTS (SELECT FROM next)
), ended AS (
    UPDATE delivery_queues q
    SET lease = NULL, lease_holder = NULL, leased_until = %(released_until)s,
        (fresh_block, retry_at, pending_count, pending_bytes) = (
            SELECT w.fresh_block, w.retry_at, w.pending_count, w.pending_bytes
            FROM waiting_deliveries(q.webhook_id) w)
    WHERE q.webhook_id = %(webhook_id)s AND q.lease = %(lease)s AND NOT EXISTS (SELECT FROM next)
)
SELECT id, event, body, attempts, sent FROM next;
