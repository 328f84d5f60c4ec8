-- Confirms a subscription to e-mail, of which no event was mailed yet.
-- params: token text, webhook_id bigint
-- returns: nothing
-- index: mail_subscriptions_pkey
UPDATE mail_subscriptions SET webhook_id = %(webhook_id)s, mails = 0 WHERE token = %(token)s;
