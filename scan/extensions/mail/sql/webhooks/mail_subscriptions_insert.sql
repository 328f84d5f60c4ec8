-- Stores a subscription to e-mail and its request, and removes those that nobody has confirmed within a day, and
-- requests that are as old.
-- params: token text, mail_address text, watch_address bytea, event_types text[], client_address text,
--   network text, now timestamptz
-- returns: nothing
-- index: mail_subscriptions_by_time, mail_requests_by_time
WITH expired AS (
    DELETE FROM mail_subscriptions
    WHERE created_at < %(now)s::timestamptz - interval '1 day'
        AND webhook_id IS NULL
        AND NOT refused
), forgotten AS (
    DELETE FROM mail_requests WHERE created_at < %(now)s::timestamptz - interval '1 day'
), requested AS (
    INSERT INTO mail_requests (token, mailbox, client_address, network, created_at)
    VALUES (%(token)s, sha256(convert_to(mailbox_of(%(mail_address)s), 'UTF8')),
        %(client_address)s, %(network)s, %(now)s)
)
INSERT INTO mail_subscriptions
    (token, mail_address, watch_address, event_types, client_address, created_at)
VALUES (%(token)s, %(mail_address)s, %(watch_address)s, %(event_types)s, %(client_address)s,
    %(now)s);
