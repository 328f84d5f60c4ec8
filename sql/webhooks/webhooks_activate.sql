-- Activates a webhook again, and resets its record of failures.
-- params: webhook_id bigint, client_address text null, maker_key bigint null, maker_user text null
-- returns: nothing
-- index: webhooks_pkey, delivery_queues_pkey
WITH webhook AS (
    UPDATE webhooks
    SET active = true, stopped_reason = NULL, client_address = %(client_address)s,
        maker_key = %(maker_key)s, maker_user = %(maker_user)s
    WHERE id = %(webhook_id)s AND NOT active
    RETURNING id
)
UPDATE delivery_queues q SET fail_count = 0 FROM webhook WHERE q.webhook_id = webhook.id;
