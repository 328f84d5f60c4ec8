-- Notes that a mail address does not want to be asked again.
-- params: token text
-- returns: nothing
-- index: mail_subscriptions_pkey
UPDATE mail_subscriptions SET refused = true WHERE token = %(token)s AND webhook_id IS NULL;
