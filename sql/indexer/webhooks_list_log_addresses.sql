-- The addresses whose logs active webhooks receive.
-- params: none
-- literals: none
-- returns: address for each
-- index: webhooks_for_logs, webhook_addresses_by_webhook
SELECT watch_address
FROM webhooks
WHERE active AND 'log' = ANY (event_types) AND watch_address IS NOT NULL
UNION
SELECT a.address
FROM webhooks w
JOIN webhook_addresses a ON a.webhook_id = w.id
WHERE w.active AND 'log' = ANY (w.event_types);
