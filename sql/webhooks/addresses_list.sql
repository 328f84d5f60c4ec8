-- The addresses of a webhook's list, by their bytes.
-- params: webhook_id bigint, limit integer, offset bigint, after bytea null
-- returns: one row: data (JSON text), count in data, total; for cursors: the last address where more follow
-- index: webhook_addresses_by_webhook, webhooks_pkey
WITH page AS (
    SELECT address
    FROM webhook_addresses
    WHERE webhook_id = %(webhook_id)s AND (%(after)s::bytea IS NULL OR address > %(after)s)
    ORDER BY address
    LIMIT %(limit)s OFFSET %(offset)s
), last AS (
    SELECT address FROM page ORDER BY address DESC LIMIT 1
)
SELECT (SELECT json_list(string_agg(json_hex(address), ',' ORDER BY address)) FROM page),
    (SELECT count(*) FROM page),
    (SELECT address_count FROM webhooks WHERE id = %(webhook_id)s),
    (SELECT l.address
    FROM last l
    WHERE EXISTS (
        SELECT FROM webhook_addresses o
        WHERE o.webhook_id = %(webhook_id)s AND o.address > l.address));
