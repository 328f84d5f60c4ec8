-- Changes where a webhook's events are sent, and which it gets from the next block on, by columns' names. Of another
-- receiver nothing is known yet. The caller has locked its queue.
-- params: webhook_id bigint, changed json, host text null
-- returns: nothing
-- index: webhooks_pkey, delivery_queues_pkey
WITH sent_elsewhere AS (
    UPDATE delivery_queues
    SET host = %(host)s, is_healthy = false, fail_count = 0
    WHERE webhook_id = %(webhook_id)s AND %(host)s::text IS NOT NULL
)
UPDATE webhooks w
SET (url, watch_address, event_types, topics, format, direction, tokens, minimum_value, minimum_values, confirmations) = (
    SELECT n.url, n.watch_address, n.event_types, n.topics, n.format, n.direction, n.tokens, n.minimum_value,
        n.minimum_values, n.confirmations
    FROM json_populate_record(w, %(changed)s) AS n)
WHERE w.id = %(webhook_id)s;
