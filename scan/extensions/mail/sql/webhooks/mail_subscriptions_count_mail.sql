-- Counts one more mail of a webhook's subscription on a day.
-- params: webhook_id bigint, day date
-- returns: nothing
-- index: mail_subscriptions_webhook_id_key
UPDATE mail_subscriptions
SET mails = CASE WHEN mailed_on = %(day)s THEN mails + 1 ELSE 1 END,
    mailed_on = %(day)s
WHERE webhook_id = %(webhook_id)s;
