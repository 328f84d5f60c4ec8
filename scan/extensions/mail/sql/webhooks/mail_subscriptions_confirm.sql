-- Confirms a subscription to e-mail.
-- params: token text, webhook_id bigint
-- returns: nothing
-- index: mail_subscriptions_pkey
UPDATE mail_subscriptions SET webhook_id = %(webhook_id)s WHERE token = %(token)s;
