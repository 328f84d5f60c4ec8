-- Stores a new webhook with its secret, its empty queue, and its list of addresses, which has none twice, if it has one.
-- params: id bigint, owner bytea, watch_address bytea null, url text, host text, event_types text[],
--   secret text, client_address text null, topics json null, now timestamptz, addresses bytea[] null,
--   address_count integer, direction text null, tokens bytea[] null, minimum_value numeric null,
--   minimum_values jsonb null, confirmations integer null, format text null, maker_key bigint null, maker_user text null
-- returns: nothing; raises Conflict on webhooks_pkey for an id that is taken
-- index: webhooks_pkey
WITH webhook AS (
    INSERT INTO webhooks
        (id, owner_address, watch_address, url, event_types, client_address, topics, created_at,
            address_count, direction, tokens, minimum_value, minimum_values, confirmations, format, maker_key, maker_user)
    VALUES (%(id)s, %(owner)s, %(watch_address)s, %(url)s, %(event_types)s,
        %(client_address)s, %(topics)s, %(now)s,
        %(address_count)s, %(direction)s, %(tokens)s, %(minimum_value)s, %(minimum_values)s,
        %(confirmations)s, %(format)s,
        %(maker_key)s, %(maker_user)s)
    RETURNING id
), addresses AS (
    INSERT INTO webhook_addresses (address, webhook_id)
    SELECT a.address, w.id
    FROM webhook w
    CROSS JOIN unnest(%(addresses)s::bytea[]) AS a (address)
), secret AS (
    INSERT INTO webhook_secrets (webhook_id, secret)
    SELECT id, %(secret)s FROM webhook
)
INSERT INTO delivery_queues (webhook_id, host)
SELECT id, %(host)s FROM webhook;
