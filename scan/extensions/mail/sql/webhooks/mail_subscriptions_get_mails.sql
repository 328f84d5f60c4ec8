-- Whom a webhook's subscription mails to, and how many it has mailed on a day.
-- params: webhook_id bigint, day date
-- returns: no row where the subscription has ended; else mail_address, token, mails
-- index: mail_subscriptions_webhook_id_key
SELECT mail_address, token, CASE WHEN mailed_on = %(day)s THEN mails ELSE 0 END
FROM mail_subscriptions
WHERE webhook_id = %(webhook_id)s;
