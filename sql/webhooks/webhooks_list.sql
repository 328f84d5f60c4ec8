-- The webhooks of an owner, the oldest first.
-- params: owner bytea
-- returns: one row, the body as JSON text
-- index: webhooks_by_owner, delivery_queues_pkey
SELECT '{"webhooks":' || json_list(string_agg(
    webhook_record(w, q)::text, ',' ORDER BY w.created_at, w.id)) || '}'
FROM webhooks w
JOIN delivery_queues q ON q.webhook_id = w.id
WHERE w.owner_address = %(owner)s;
