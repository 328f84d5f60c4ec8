-- Webhooks, their deliveries, and the bodies of events.

-- Webhooks: the addresses whose events are sent, and where to. Values that change with every delivery are in
-- delivery_queues, so that an event does not touch the index that matching works with.
CREATE TABLE IF NOT EXISTS webhooks (
    id bigint PRIMARY KEY CHECK (id BETWEEN 1 AND 9007199254740991), -- random: not to be counted
    owner_address bytea NOT NULL,
    watch_address bytea,           -- null: it watches the addresses of webhook_addresses
    url text NOT NULL,
    event_types text[] NOT NULL
        CHECK (event_types <@ '{tx,token_transfer,internal_transfer,dex_trade,log}'
            AND event_types <> '{}'),
    active boolean NOT NULL DEFAULT true,
    created_at timestamptz NOT NULL,
    stopped_reason text,           -- why the service stopped it; null where it did not
    client_address text,           -- who registered it; null: not limited
    topics json,                   -- what its logs must match, as eth_getLogs has it; null: all
    first_block bigint NOT NULL DEFAULT 0, -- events of older blocks are not sent: it is restored, and they were
    address_count integer NOT NULL DEFAULT 1, -- how many addresses it watches
    direction text CHECK (direction IN ('in', 'out')), -- of its transactions and transfers; null: both
    tokens bytea[],                -- whose transfers and trades it gets; null: of all tokens
    minimum_value numeric CHECK (minimum_value >= 0), -- of its transactions and transfers; null: any
    minimum_values jsonb,          -- in its place: of the coin, and of tokens by address, as text
    confirmations integer CHECK (confirmations >= 0), -- its events wait for; null: for SCAN_CONFIRMATIONS
    format text CHECK (format IN ('slack', 'discord', 'telegram', 'teams')), -- of messages; null: signed JSON
    maker_key bigint,              -- where access needs a key: the one with which it was made or activated last
    maker_user text                -- or the person whom a proxy had signed in
);
-- serves webhooks/webhooks_list, webhooks/webhooks_count_active
CREATE INDEX IF NOT EXISTS webhooks_by_owner ON webhooks (owner_address, created_at, id);
-- serves watchers(), indexer/webhooks_find_active, webhooks/webhooks_count_active
CREATE INDEX IF NOT EXISTS webhooks_by_watch_address ON webhooks (watch_address) WHERE active;
-- serves indexer/webhooks_list_log_addresses
CREATE INDEX IF NOT EXISTS webhooks_for_logs ON webhooks (watch_address, id)
    WHERE active AND 'log' = ANY (event_types);
-- serves webhooks/webhooks_count_active
CREATE INDEX IF NOT EXISTS webhooks_by_client_address ON webhooks (client_address)
    WHERE active AND client_address IS NOT NULL;
-- serves webhooks/webhooks_list_ended
CREATE INDEX IF NOT EXISTS webhooks_by_key ON webhooks (maker_key) WHERE active AND maker_key IS NOT NULL;
-- serves webhooks/addresses_count
CREATE INDEX IF NOT EXISTS webhooks_with_lists ON webhooks (client_address) WHERE watch_address IS NULL;

-- The network of a client address, as network_around() in scan/rate_limits has it: what one subscriber may have whole.
CREATE OR REPLACE FUNCTION client_network(client_address text) RETURNS text LANGUAGE sql IMMUTABLE
RETURN CASE WHEN client_address ~ '^[0-9a-f:./]+$' THEN network(set_masklen(
    client_address::inet, CASE family(client_address::inet) WHEN 4 THEN 24 ELSE 48 END))::text
    ELSE client_address END;

-- What a list of addresses counts for in the bounds on all of them: at least 5,000, since an event of one address may
-- be of many lists, and with logs a hundred for each, as the indexer keeps these in memory.
CREATE OR REPLACE FUNCTION list_cost(address_count integer, event_types text[]) RETURNS integer LANGUAGE sql IMMUTABLE
RETURN greatest(address_count * CASE WHEN 'log' = ANY (event_types) THEN 100 ELSE 1 END, 5000);

-- The addresses of webhooks that watch a list of them.
CREATE TABLE IF NOT EXISTS webhook_addresses (
    address bytea NOT NULL,
    webhook_id bigint NOT NULL REFERENCES webhooks ON DELETE CASCADE,
    PRIMARY KEY (address, webhook_id)
);
-- serves webhooks/addresses_list, webhooks/addresses_delete
CREATE INDEX IF NOT EXISTS webhook_addresses_by_webhook ON webhook_addresses (webhook_id, address);

-- The webhooks that watch an address. Those with a list may be stopped ones. Inlined, it looks each address up
-- in two indexes, however long lists are.
CREATE OR REPLACE FUNCTION watchers(watched bytea) RETURNS TABLE (webhook_id bigint) LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT w.id FROM webhooks w WHERE w.watch_address = watched AND w.active
    UNION ALL
    SELECT a.webhook_id FROM webhook_addresses a WHERE a.address = watched;
END;

-- The secrets that deliveries are signed with. They are apart from webhooks, so that no list of those can
-- show one.
CREATE TABLE IF NOT EXISTS webhook_secrets (
    webhook_id bigint PRIMARY KEY REFERENCES webhooks ON DELETE CASCADE,
    secret text NOT NULL
);

-- Those before them, which sign deliveries, too, until they end.
CREATE TABLE IF NOT EXISTS former_secrets (
    webhook_id bigint NOT NULL REFERENCES webhooks ON DELETE CASCADE,
    secret text NOT NULL,
    ends_at timestamptz NOT NULL,
    PRIMARY KEY (webhook_id, secret)
);

-- What signs a webhook's deliveries: its secret first, then the newest former ones, of which each costs a signature.
CREATE OR REPLACE FUNCTION signing_secrets(webhook bigint, moment timestamptz) RETURNS text[] LANGUAGE sql STABLE
RETURN (SELECT s.secret FROM webhook_secrets s WHERE s.webhook_id = webhook) || ARRAY(
    SELECT f.secret
    FROM former_secrets f
    WHERE f.webhook_id = webhook AND f.ends_at > moment
    ORDER BY f.ends_at DESC, f.secret
    LIMIT 5);

-- One row for each webhook: its waiting deliveries, its health, and the process that serves it now. Whoever
-- changes this row and deliveries locks this row first.
CREATE TABLE IF NOT EXISTS delivery_queues (
    webhook_id bigint PRIMARY KEY REFERENCES webhooks ON DELETE CASCADE,
    host text NOT NULL,            -- host:port of its url: so many at once to each
    fresh_block bigint,            -- the lowest block of its deliveries that nobody has tried yet
    retry_at timestamptz,          -- when the first of its tried ones is due again
    is_healthy boolean NOT NULL DEFAULT false, -- its last attempt was a quick success
    fail_count integer NOT NULL DEFAULT 0,
    last_triggered_at timestamptz,
    last_success_at timestamptz,
    lease bigint,                  -- names one holding of the queue, null while nobody holds it
    lease_holder integer,          -- the process that holds it, see webhooks/dispatchers_register.sql
    leased_until timestamptz NOT NULL DEFAULT '-infinity', -- or when it was released
    -- How many of its deliveries are pending, and their bodies' bytes: exact while nobody holds a
    -- lease, and never too low.
    pending_count integer NOT NULL DEFAULT 0,
    pending_bytes bigint NOT NULL DEFAULT 0
);
-- serves webhooks/deliveries_claim_due: the longest unserved first
CREATE INDEX IF NOT EXISTS delivery_queues_waiting ON delivery_queues (leased_until, webhook_id)
    WHERE fresh_block IS NOT NULL OR retry_at IS NOT NULL;

-- Bodies of events: the very bytes that are signed and sent, once for all webhooks and all attempts.
-- A row is written together with the deliveries that refer to it, and is removed with the last one.
CREATE TABLE IF NOT EXISTS event_bodies (
    id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    body text NOT NULL
);

-- Deliveries: one row for each event and webhook, in chain order by id. There is no foreign key, or the
-- indexer would wait while a webhook is deleted. The rows that one leaves are swept later.
CREATE TABLE IF NOT EXISTS deliveries (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    webhook_id bigint NOT NULL,
    block_number bigint,           -- null where no block has to be confirmed: tests, removals
    status text NOT NULL DEFAULT 'pending'
        CHECK (status IN ('pending', 'delivered', 'failed', 'cancelled')),
    event text NOT NULL,
    removed boolean NOT NULL DEFAULT false,  -- reports that an event's block was orphaned
    orphaned boolean NOT NULL DEFAULT false, -- its own block was
    sent boolean NOT NULL DEFAULT false,     -- the receiver may have seen it
    attempts smallint NOT NULL DEFAULT 0,    -- with a known end, since it was last put to work
    created_at timestamptz NOT NULL,
    tried_since timestamptz,       -- the first attempt; null: fresh
    retry_at timestamptz,          -- the next attempt, while it is pending and not fresh
    attempted_at timestamptz,      -- the last attempt
    finished_at timestamptz,
    response_code integer,
    error text,
    body_id bigint NOT NULL,       -- in event_bodies
    body_bytes integer NOT NULL    -- its length
);
-- Receivers tell deliveries apart by id, so no id may be given twice. A standby that missed the last
-- commits goes on from an older value of the sequence: before ids are given, the sequence moves on to
-- the clock (microseconds; below 2^53 until the year 2255) where it is behind, which after a failover
-- is past all that were given. Ids stay in order. Up to 100 ms behind it is left alone: no failover is
-- that short, and a statement that gives ids meanwhile is far behind the clock by the time another
-- moves it.
CREATE OR REPLACE FUNCTION advance_delivery_ids() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    ids CONSTANT regclass := pg_get_serial_sequence('deliveries', 'id');
    latest bigint;
BEGIN
    PERFORM pg_advisory_lock(hashtextextended('scan.delivery_ids', 0));
    latest := nextval(ids);
    IF latest < extract(epoch FROM clock_timestamp()) * 1000000 - 100000 THEN
        latest := setval(ids, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint);
    END IF;
    PERFORM pg_advisory_unlock(hashtextextended('scan.delivery_ids', 0));
    RETURN latest;
END $$;
-- serves webhooks/deliveries_list
CREATE INDEX IF NOT EXISTS deliveries_by_webhook ON deliveries (webhook_id, id);
-- serve begin_deliveries, waiting_deliveries
CREATE INDEX IF NOT EXISTS deliveries_fresh
    ON deliveries (webhook_id, coalesce(block_number, -1), id)
    WHERE status = 'pending' AND tried_since IS NULL;
CREATE INDEX IF NOT EXISTS deliveries_tried ON deliveries (webhook_id, retry_at)
    WHERE status = 'pending' AND tried_since IS NOT NULL;
-- serves indexer/events_lock_queues, indexer/events_unwind
CREATE INDEX IF NOT EXISTS deliveries_by_block ON deliveries (block_number)
    WHERE block_number IS NOT NULL AND NOT orphaned;
-- serves webhooks/deliveries_replay
CREATE INDEX IF NOT EXISTS deliveries_missed ON deliveries (webhook_id, created_at, id)
    WHERE status IN ('failed', 'cancelled') AND NOT orphaned;
-- serve webhooks/deliveries_delete_old
CREATE INDEX IF NOT EXISTS deliveries_delivered ON deliveries (finished_at)
    WHERE status = 'delivered';
CREATE INDEX IF NOT EXISTS deliveries_given_up ON deliveries (finished_at)
    WHERE status IN ('failed', 'cancelled');
-- serves delete_unused_event_bodies
CREATE INDEX IF NOT EXISTS deliveries_by_body ON deliveries (body_id);

CREATE OR REPLACE FUNCTION delivery_body(d deliveries) RETURNS text LANGUAGE sql STABLE
RETURN (SELECT e.body FROM event_bodies e WHERE e.id = d.body_id);

-- Begins an attempt of a queue's next deliveries, at most so many, and returns them as they were before: of tried
-- ones that are due again, the first by their time, then the first fresh ones in chain order. Once that is committed the
-- receiver may have seen the delivery, even if the process that sends it dies. The caller has locked the
-- queue: as this is VOLATILE, it sees what was committed before that.
CREATE OR REPLACE FUNCTION begin_deliveries(
    queue bigint, moment timestamptz, confirmations integer, most integer)
RETURNS TABLE (id bigint, event text, body text, attempts smallint, sent boolean)
LANGUAGE sql VOLATILE
BEGIN ATOMIC
    WITH due AS (
        (SELECT d.id, d.sent, 1 AS turn, row_number() OVER (ORDER BY d.retry_at, d.id) AS number
        FROM deliveries d
        WHERE d.webhook_id = queue AND d.status = 'pending' AND d.tried_since IS NOT NULL
            AND d.retry_at <= moment
        ORDER BY d.retry_at, d.id
        LIMIT most)
        UNION ALL
        (SELECT d.id, d.sent, 2, row_number() OVER (ORDER BY coalesce(d.block_number, -1), d.id)
        FROM deliveries d
        WHERE d.webhook_id = queue AND d.status = 'pending' AND d.tried_since IS NULL
            AND coalesce(d.block_number, -1)
                <= greatest((SELECT max(b.number) FROM blocks b) - confirmations, -1)
        ORDER BY coalesce(d.block_number, -1), d.id
        LIMIT most)
        ORDER BY turn, number
        LIMIT most
    )
    UPDATE deliveries d
    SET tried_since = coalesce(d.tried_since, moment),
        attempted_at = moment,
        retry_at = moment,
        sent = true
    FROM due
    WHERE d.id = due.id
    RETURNING d.id, d.event, delivery_body(d), d.attempts, due.sent;
END;

-- What a queue holds, for its row. The caller has locked that in an earlier statement, so that this one
-- sees what others have committed before.
CREATE OR REPLACE FUNCTION waiting_deliveries(queue bigint)
RETURNS TABLE (fresh_block bigint, retry_at timestamptz, pending_count bigint, pending_bytes bigint)
LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT (
            SELECT coalesce(d.block_number, -1)
            FROM deliveries d
            WHERE d.webhook_id = queue AND d.status = 'pending' AND d.tried_since IS NULL
            ORDER BY coalesce(d.block_number, -1), d.id
            LIMIT 1
        ), (
            SELECT min(d.retry_at)
            FROM deliveries d
            WHERE d.webhook_id = queue AND d.status = 'pending' AND d.tried_since IS NOT NULL
        ), count(*), coalesce(sum(p.body_bytes), 0)
    FROM (
        SELECT d.body_bytes
        FROM deliveries d
        WHERE d.webhook_id = queue AND d.status = 'pending' AND d.tried_since IS NULL
        UNION ALL
        SELECT d.body_bytes
        FROM deliveries d
        WHERE d.webhook_id = queue AND d.status = 'pending' AND d.tried_since IS NOT NULL
    ) AS p;
END;

-- Removes the bodies whose last deliveries were deleted. They are locked first, so that of two transactions
-- that delete deliveries of one body, the second sees what the first has deleted.
CREATE OR REPLACE FUNCTION delete_unused_event_bodies() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM event_bodies
    WHERE id IN (SELECT body_id FROM deleted)
    ORDER BY id
    FOR UPDATE;
    DELETE FROM event_bodies e
    WHERE e.id IN (SELECT body_id FROM deleted)
        AND NOT EXISTS (SELECT FROM deliveries d WHERE d.body_id = e.id);
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER deliveries_deleted AFTER DELETE ON deliveries
    REFERENCING OLD TABLE AS deleted
    FOR EACH STATEMENT EXECUTE FUNCTION delete_unused_event_bodies();

CREATE OR REPLACE FUNCTION webhook_record(w webhooks, q delivery_queues) RETURNS json
LANGUAGE sql STABLE
RETURN format(
    '{"id":%s,"url":%s,"watchAddress":%s,"addressCount":%s,"eventTypes":%s,"active":%s,"createdAt":"%s",'
    '"lastTriggeredAt":%s,"failCount":%s,"stoppedReason":%s,"topics":%s,"direction":%s,"tokens":%s,'
    '"minimumValue":%s,"confirmations":%s,"format":%s}',
    w.id, json_text(w.url), json_hex(w.watch_address), w.address_count, array_to_json(w.event_types),
    w.active::text, iso(w.created_at), json_text(iso(q.last_triggered_at)), q.fail_count,
    json_text(w.stopped_reason), coalesce(w.topics::text, 'null'), json_text(w.direction),
    coalesce((SELECT json_agg(hex(t.token) ORDER BY t.number)
        FROM unnest(w.tokens) WITH ORDINALITY AS t (token, number))::text, 'null'),
    coalesce(w.minimum_values::text, json_text(w.minimum_value::text)), coalesce(w.confirmations::text, 'null'),
    json_text(w.format))::json;

-- The record of a delivery. `payload` is the body as it was signed and sent.
CREATE OR REPLACE FUNCTION delivery_record(d deliveries) RETURNS json LANGUAGE sql STABLE
RETURN format(
    '{"id":%s,"event":%s,"blockNumber":%s,"status":%s,"responseCode":%s,"error":%s,"attempts":%s,'
    '"createdAt":"%s","lastAttemptAt":%s,"nextAttemptAt":%s,"payload":%s}',
    d.id, json_text(d.event), coalesce(d.block_number::text, 'null'), json_text(d.status),
    coalesce(d.response_code::text, 'null'), json_text(d.error), d.attempts, iso(d.created_at),
    json_text(iso(d.attempted_at)), json_text(iso(d.retry_at)), delivery_body(d))::json;

-- The body of a webhook's event as text, which is signed and sent. That of a transaction has `unproven`
-- only where it names a field of the event.
CREATE OR REPLACE FUNCTION transaction_event(t transactions, b blocks) RETURNS text
LANGUAGE sql STABLE
RETURN format(
    '{"event":"tx","timestamp":"%s","data":{"hash":"%s","from":"%s","to":%s,"value":"%s",'
    '"blockNumber":%s,"status":%s,"contractAddress":%s,"methodId":%s%s}}',
    iso(b.timestamp), hex(t.hash), hex(t.from_address), json_hex(t.to_address), t.value,
    t.block_number, t.status::text, json_hex(t.contract_address), json_hex(method_id(t)),
    (SELECT ',"unproven":' || json_agg(f.of_event ORDER BY f.number)
    FROM json_array_elements_text(unproven_of_transaction(t, b)::json) AS u (name)
    JOIN (VALUES (1, 'hash', 'hash'), (2, 'fromAddress', 'from'), (3, 'toAddress', 'to'),
        (4, 'value', 'value'), (5, 'blockNumber', 'blockNumber'), (6, 'status', 'status'),
        (7, 'contractAddress', 'contractAddress'), (8, 'methodId', 'methodId'))
        AS f (number, of_record, of_event)
        ON f.of_record = u.name));

CREATE OR REPLACE FUNCTION token_transfer_event(
    x token_transfers, t transactions, token_type text, mined_at timestamptz)
RETURNS text LANGUAGE sql STABLE
RETURN format(
    '{"event":"token_transfer","timestamp":"%s","data":{"hash":"%s","from":"%s","to":"%s",'
    '"value":"%s","blockNumber":%s,"tokenAddress":"%s","tokenType":"%s","tokenId":%s,'
    '"logIndex":%s,"batchIndex":%s,"methodId":%s,"unproven":["tokenType"]}}',
    iso(mined_at), hex(t.hash), hex(x.from_address), hex(x.to_address), x.value,
    x.block_number, hex(x.token_address), token_type, coalesce('"' || x.token_id || '"', 'null'),
    x.log_index, coalesce(x.batch_index, 0), json_hex(method_id(t)));

CREATE OR REPLACE FUNCTION internal_transfer_event(
    i internal_transfers, t transactions, b blocks)
RETURNS text LANGUAGE sql STABLE
RETURN format(
    '{"event":"internal_transfer","timestamp":"%s","data":{"hash":"%s","from":"%s","to":"%s",'
    '"value":"%s","blockNumber":%s,"transferIndex":%s,"type":"%s","methodId":%s,"proven":%s}}',
    iso(b.timestamp), hex(t.hash), hex(i.from_address), hex(i.to_address), i.value, i.block_number,
    i.transfer_index, internal_transfer_type(i.type), json_hex(method_id(t)),
    is_proven_transfer(b, i.from_address, i.to_address, i.value)::text);

CREATE OR REPLACE FUNCTION dex_trade_event(
    d dex_trades, t transactions, dex text, mined_at timestamptz)
RETURNS text LANGUAGE sql STABLE
RETURN format(
    '{"event":"dex_trade","timestamp":"%s","data":{"hash":"%s","blockNumber":%s,"logIndex":%s,'
    '"dex":%s,"pairAddress":"%s","poolId":%s,"maker":"%s","tokenIn":"%s","tokenOut":"%s","amountIn":"%s",'
    '"amountOut":"%s","methodId":%s,"unproven":["dex","tokenIn","tokenOut"]}}',
    iso(mined_at), hex(t.hash), d.block_number, d.log_index, json_text(dex),
    hex(pool_contract(d.pool_address)), json_pool_id(d.pool_address), hex(d.maker), hex(d.token_in), hex(d.token_out), d.amount_in, d.amount_out,
    json_hex(method_id(t)));

-- Whether a log with these topics (a JSON array) matches a filter of eth_getLogs: for each place null,
-- a topic, or some of them; a log with fewer topics than the filter has places does not match.
CREATE OR REPLACE FUNCTION topics_match(wanted jsonb, topics jsonb) RETURNS boolean
LANGUAGE sql IMMUTABLE
RETURN wanted IS NULL OR (jsonb_array_length(wanted) <= jsonb_array_length(topics)
    AND NOT EXISTS (
        SELECT FROM jsonb_array_elements(wanted) WITH ORDINALITY AS c (allowed, place)
        WHERE c.allowed <> 'null' AND NOT c.allowed @> (topics -> (c.place - 1)::integer)));

-- The body of a log's event. `data` of more than 16,384 bytes is left out, as a contract could have every
-- webhook sent megabytes. The argument is null where the indexer has left it out already.
CREATE OR REPLACE FUNCTION log_event(
    t transactions, log_index integer, address bytea, topics text, data bytea, mined_at timestamptz)
RETURNS text LANGUAGE sql STABLE
RETURN format(
    '{"event":"log","timestamp":"%s","data":{"hash":"%s","blockNumber":%s,"logIndex":%s,'
    '"transactionIndex":%s,"address":"%s","topics":%s,"data":%s,"methodId":%s%s}}',
    iso(mined_at), hex(t.hash), t.block_number, log_index, t.transaction_index, hex(address),
    topics, CASE WHEN octet_length(data) <= 16384 THEN json_hex(data) ELSE 'null' END,
    json_hex(method_id(t)),
    CASE WHEN octet_length(data) <= 16384 THEN '' ELSE ',"dataOmitted":true' END);
