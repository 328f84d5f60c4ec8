-- A webhook's deliveries, the newest first.
-- params: webhook_id bigint, limit integer, offset bigint, after bigint null
-- returns: one row: data (JSON text), count in data, total; for cursors: id of the last row where
--   more follow
-- index: deliveries_by_webhook
SELECT json_list(string_agg(delivery_record(page.d)::text, ',')),
    count(page.d),
    (SELECT count(*) FROM deliveries WHERE webhook_id = %(webhook_id)s),
    CASE WHEN EXISTS (
            SELECT FROM deliveries o
            WHERE o.webhook_id = %(webhook_id)s AND o.id < min((page.d).id))
        THEN min((page.d).id) END
FROM (
    SELECT d
    FROM deliveries d
    WHERE d.webhook_id = %(webhook_id)s AND (%(after)s IS NULL OR d.id < %(after)s)
    ORDER BY d.id DESC
    LIMIT %(limit)s OFFSET %(offset)s
) AS page;
