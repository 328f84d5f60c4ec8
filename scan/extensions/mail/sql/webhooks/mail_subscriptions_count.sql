-- How many subscriptions to e-mail a client, its network and a mailbox have asked for within a day, and all have;
-- how many the mailbox has confirmed, and whether it refuses to be asked.
-- params: mail_address text, client_address text, network text, now timestamptz
-- returns: by_client bigint, by_network bigint, by_mailbox bigint, in_all bigint, confirmed bigint, refused boolean
-- index: mail_requests_by_time, mail_subscriptions_by_mailbox
SELECT
    count(*) FILTER (WHERE r.client_address = %(client_address)s),
    count(*) FILTER (WHERE r.network = %(network)s),
    count(*) FILTER (WHERE r.mailbox = sha256(convert_to(mailbox_of(%(mail_address)s), 'UTF8'))),
    count(*),
    (SELECT count(*) FROM mail_subscriptions s
        WHERE mailbox_of(s.mail_address) = mailbox_of(%(mail_address)s) AND s.webhook_id IS NOT NULL),
    EXISTS (SELECT FROM mail_subscriptions s
        WHERE mailbox_of(s.mail_address) = mailbox_of(%(mail_address)s) AND s.refused)
FROM mail_requests r
WHERE r.created_at > %(now)s::timestamptz - interval '1 day';
