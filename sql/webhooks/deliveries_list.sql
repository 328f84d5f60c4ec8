-- A webhook's deliveries, the newest first.
-- params: webhook_id bigint, limit integer, offset bigint
-- returns: one row: data (JSON text), count in data, total
-- index: deliveries_by_webhook
SELECT json_list(string_agg(delivery_record(page.d)::text, ',')),
    count(page.d),
    (SELECT count(*) FROM deliveries WHERE webhook_id = %(webhook_id)s)
FROM (
    SELECT d
    FROM deliveries d
    WHERE d.webhook_id = %(webhook_id)s
    ORDER BY d.id DESC
    LIMIT %(limit)s OFFSET %(offset)s
) AS page;
