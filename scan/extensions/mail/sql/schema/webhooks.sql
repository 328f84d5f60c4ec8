
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

-- The mailbox of a mail address: what follows a plus is a tag, by which one person has many addresses.
CREATE OR REPLACE FUNCTION mailbox_of(mail_address text) RETURNS text LANGUAGE sql IMMUTABLE
RETURN regexp_replace(mail_address, '[+][^@]*@', '@');
-- serves webhooks/mail_subscriptions_count
CREATE INDEX IF NOT EXISTS mail_subscriptions_by_mailbox ON mail_subscriptions (mailbox_of(mail_address));
-- serves webhooks/mail_subscriptions_claim, webhooks/mail_subscriptions_insert
CREATE INDEX IF NOT EXISTS mail_subscriptions_by_time ON mail_subscriptions (created_at);

-- Requests for subscriptions, a day long, whatever has become of these: who leaves one may not ask more often.
CREATE TABLE IF NOT EXISTS mail_requests (
    token text PRIMARY KEY,
    mailbox bytea NOT NULL,        -- SHA-256: an address that was left is not kept
    client_address text NOT NULL,
    network text NOT NULL,         -- of the client
    created_at timestamptz NOT NULL,
    mailed_at timestamptz          -- when a mail last asked for the confirmation; null: not yet
);
-- serves webhooks/mail_subscriptions_count, webhooks/mail_subscriptions_insert
CREATE INDEX IF NOT EXISTS mail_requests_by_time ON mail_requests (created_at);
-- serves webhooks/mail_subscriptions_claim
CREATE INDEX IF NOT EXISTS mail_requests_by_mail ON mail_requests (mailed_at);
