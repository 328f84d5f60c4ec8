-- Stores a subscription to e-mail, and removes those that nobody has confirmed within a day.
-- params: token text, mail_address text, watch_address bytea, event_types text[], client_address text,
--   now timestamptz
-- returns: nothing
-- index: mail_subscriptions_by_time
WITH expired AS (
    DELETE FROM mail_subscriptions
    WHERE created_at < %(now)s::timestamptz - interval '1 day'
        AND webhook_id IS NULL
        AND NOT refused
)
INSERT INTO mail_subscriptions
    (token, mail_address, watch_address, event_types, client_address, created_at)
VALUES (%(token)s, %(mail_address)s, %(watch_address)s, %(event_types)s, %(client_address)s,
    %(now)s);
