-- Claims the subscription to e-mail that is to be asked for its confirmation next: of those whose mail has not
-- been sent, at once and 1, 4, 9, … minutes after it was asked for. First come networks that had the fewest of
-- these mails, and of these the newest, so that who comes after a burst of requests does not wait for all of it;
-- most_mails go out in ten minutes.
-- params: now timestamptz, most_attempts integer, most_mails integer
-- returns: no row where none is due; else token, mail_address, watch_address
-- index: mail_subscriptions_by_time, mail_subscriptions_pkey, mail_requests_by_mail, mail_requests_pkey
WITH claimed AS (
    UPDATE mail_subscriptions
    SET mailed_on = %(now)s::timestamptz::date, mails = mails + 1
    WHERE token = (
        SELECT s.token
        FROM mail_subscriptions s
        LEFT JOIN mail_requests r ON r.token = s.token
        LEFT JOIN (
            SELECT network, count(*) AS mails FROM mail_requests
            WHERE mailed_at IS NOT NULL
            GROUP BY network
        ) AS sent ON sent.network = r.network
        WHERE s.created_at > %(now)s::timestamptz - interval '1 day'
            AND s.created_at <= %(now)s::timestamptz - s.mails * s.mails * interval '1 minute'
            AND s.mailed_on IS NULL AND s.mails < %(most_attempts)s
            AND s.webhook_id IS NULL AND NOT s.refused
            AND (SELECT count(*) FROM mail_requests m
                WHERE m.mailed_at > %(now)s::timestamptz - interval '10 minutes') < %(most_mails)s
        ORDER BY coalesce(sent.mails, 0) ASC, s.mails ASC, s.created_at DESC, s.token ASC
        LIMIT 1
        FOR UPDATE OF s SKIP LOCKED
    )
    RETURNING token, mail_address, watch_address
), noted AS (
    UPDATE mail_requests SET mailed_at = %(now)s WHERE token IN (SELECT token FROM claimed)
)
SELECT token, mail_address, watch_address FROM claimed;
