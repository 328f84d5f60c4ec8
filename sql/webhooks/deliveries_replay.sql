-- Makes the first of a webhook's deliveries in a span of time due again that failed or were cancelled, with all their
-- retries, until so many deliveries and bytes wait in its queue. The caller has locked that.
-- params: webhook_id bigint, first_s bigint, last_s bigint, most bigint, most_bytes bigint, now timestamptz
-- returns: one row: how many, and whether there are more
-- index: deliveries_missed, deliveries_pkey, delivery_queues_pkey
WITH missed AS (
    SELECT d.id, q.pending_count + row_number() OVER w AS waiting, q.pending_bytes + sum(d.body_bytes) OVER w AS bytes
    FROM delivery_queues q
    CROSS JOIN LATERAL (
        SELECT id, created_at, body_bytes
        FROM deliveries
        WHERE webhook_id = q.webhook_id AND status IN ('failed', 'cancelled') AND NOT orphaned
            AND created_at >= to_timestamp(%(first_s)s) AND created_at < to_timestamp(%(last_s)s + 1)
        ORDER BY created_at, id
        LIMIT %(most)s + 1) AS d
    WHERE q.webhook_id = %(webhook_id)s
    WINDOW w AS (ORDER BY d.created_at, d.id)
), again AS (
    UPDATE deliveries d
    SET status = 'pending', attempts = 0, tried_since = %(now)s, retry_at = %(now)s, finished_at = NULL
    FROM missed m
    WHERE d.id = m.id AND m.waiting <= %(most)s AND m.bytes <= %(most_bytes)s
    RETURNING 1
)
SELECT count(*), count(*) < (SELECT count(*) FROM missed) FROM again;
