-- How many subscriptions to e-mail a client and a mail address have asked for within a day, and all have; how
-- many the mail address has confirmed, and whether it refuses to be asked.
-- params: mail_address text, client_address text, now timestamptz
-- returns: by_client bigint, by_mail_address bigint, confirmed bigint, in_all bigint, refused boolean
-- index: mail_subscriptions_by_time, mail_subscriptions_by_address
SELECT
    (SELECT count(*) FROM mail_subscriptions
        WHERE created_at > %(now)s::timestamptz - interval '1 day'
            AND client_address = %(client_address)s),
    (SELECT count(*) FROM mail_subscriptions
        WHERE mail_address = %(mail_address)s
            AND created_at > %(now)s::timestamptz - interval '1 day'),
    (SELECT count(*) FROM mail_subscriptions
        WHERE mail_address = %(mail_address)s AND webhook_id IS NOT NULL),
    (SELECT count(*) FROM mail_subscriptions
        WHERE created_at > %(now)s::timestamptz - interval '1 day'),
    EXISTS (SELECT FROM mail_subscriptions WHERE mail_address = %(mail_address)s AND refused);
