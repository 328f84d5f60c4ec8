-- The subscription to e-mail of a token, unless it was refused.
-- params: token text
-- returns: no row where there is none; else mail_address, watch_address, event_types, webhook_id
-- index: mail_subscriptions_pkey
SELECT mail_address, watch_address, event_types, webhook_id
FROM mail_subscriptions
WHERE token = %(token)s AND NOT refused;
