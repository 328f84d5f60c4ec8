-- The webhooks of an owner, the oldest first; the whole URLs only of those that the requester may act on.
-- params: owner bytea, is_owner boolean, client_address text null, secret_digest bytea null, maker_key bigint null,
--   maker_user text null
-- returns: one row, the body as JSON text
-- index: webhooks_by_owner, webhook_secrets_pkey, delivery_queues_pkey
SELECT '{"webhooks":' || json_list(string_agg(
    webhook_record(CASE
        WHEN %(is_owner)s OR w.client_address = %(client_address)s
            OR w.maker_key = %(maker_key)s OR w.maker_user = %(maker_user)s
            OR sha256(convert_to(s.secret, 'UTF8')) = %(secret_digest)s THEN w
        ELSE jsonb_populate_record(
            w, jsonb_build_object('url', substring(w.url FROM '^[^:]+://[^/?#]*')))
    END, q)::text, ',' ORDER BY w.created_at, w.id)) || '}'
FROM webhooks w
JOIN webhook_secrets s ON s.webhook_id = w.id
JOIN delivery_queues q ON q.webhook_id = w.id
WHERE w.owner_address = %(owner)s;
