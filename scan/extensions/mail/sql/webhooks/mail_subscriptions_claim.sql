-- Claims the subscription to e-mail that is to be asked for its confirmation next: of those whose mail has not
-- been sent, at once and 1, 4, 9, … minutes after it was asked for.
-- params: now timestamptz, most_attempts integer
-- returns: no row where none is due; else token, mail_address, watch_address
-- index: mail_subscriptions_by_time, mail_subscriptions_pkey
UPDATE mail_subscriptions
SET mailed_on = %(now)s::timestamptz::date, mails = mails + 1
WHERE token = (
    SELECT s.token
    FROM mail_subscriptions s
    WHERE s.created_at > %(now)s::timestamptz - interval '1 day'
        AND s.created_at <= %(now)s::timestamptz - s.mails * s.mails * interval '1 minute'
        AND s.mailed_on IS NULL AND s.mails < %(most_attempts)s
        AND s.webhook_id IS NULL AND NOT s.refused
    ORDER BY s.mails ASC, s.created_at ASC, s.token ASC
    LIMIT 1
    FOR UPDATE SKIP LOCKED
)
RETURNING token, mail_address, watch_address;
