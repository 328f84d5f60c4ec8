-- The addresses whose logs active webhooks receive.
-- params: none
-- literals: none
-- returns: watch_address for each
-- index: webhooks_for_logs
SELECT DISTINCT watch_address FROM webhooks WHERE active AND 'log' = ANY (event_types);
