
-- Subscriptions to e-mail. The token is in the links that confirm and leave one. Its webhook is null until it
-- is confirmed, and removes it when it is removed.
CREATE TABLE IF NOT EXISTS mail_subscriptions (
    token text PRIMARY KEY,
    mail_address text NOT NULL,
    watch_address bytea NOT NULL,
    event_types text[] NOT NULL,
    client_address text NOT NULL,
    created_at timestamptz NOT NULL,
    refused boolean NOT NULL DEFAULT false,  -- left before it was confirmed: not to be asked again
    webhook_id bigint UNIQUE REFERENCES webhooks ON DELETE CASCADE,
    mailed_on date,                          -- the day of the last mail
    mails integer NOT NULL DEFAULT 0         -- on that day; until it is confirmed, attempts to ask for it
);
-- serves webhooks/mail_subscriptions_count
CREATE INDEX IF NOT EXISTS mail_subscriptions_by_address ON mail_subscriptions (mail_address);
-- serves webhooks/mail_subscriptions_count, webhooks/mail_subscriptions_insert
CREATE INDEX IF NOT EXISTS mail_subscriptions_by_time ON mail_subscriptions (created_at);
