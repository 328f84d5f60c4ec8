-- Lets a subscription to e-mail be asked for its confirmation again, since the mail was not accepted.
-- params: token text
-- returns: nothing
-- index: mail_subscriptions_pkey
UPDATE mail_subscriptions SET mailed_on = NULL WHERE token = %(token)s AND webhook_id IS NULL;
