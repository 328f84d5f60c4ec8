-- Stores a new webhook with its secret and its empty queue.
-- params: id bigint, owner bytea, watch_address bytea, url text, host text, event_types text[],
--   secret text, client_address text null, topics json null, now timestamptz
-- returns: nothing; raises Conflict on webhooks_pkey for an id that is taken
-- index: webhooks_pkey
WITH webhook AS (
    INSERT INTO webhooks
        (id, owner_address, watch_address, url, event_types, client_address, topics, created_at)
    VALUES (%(id)s, %(owner)s, %(watch_address)s, %(url)s, %(event_types)s,
        %(client_address)s, %(topics)s, %(now)s)
    RETURNING id
), secret AS (
    INSERT INTO webhook_secrets (webhook_id, secret)
    SELECT id, %(secret)s FROM webhook
)
INSERT INTO delivery_queues (webhook_id, host)
SELECT id, %(host)s FROM webhook;
