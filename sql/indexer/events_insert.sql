-- Stores the events of new blocks for every active webhook they concern, in chain order, and marks the
-- queues that have something to do now. An event's body is stored once for all its deliveries.
-- The events of a queue and of a block are limited, see scan/indexer/derivation.py. A webhook is stopped
-- if its queue would hold too many events or bytes of bodies. If a block has too many events for all
-- webhooks, those with the most of them are stopped, and if it has too many bytes of bodies, those with the
-- most bytes. A body counts for the webhook with the fewest bytes that gets it, so that stopping the ones
-- after it frees the bytes that they count for.
-- Each address is looked up in the index, so that idle webhooks cost nothing, or hashed if the planner has
-- no statistics of webhooks yet, which an equality allows and = ANY does not. One transfer to oneself is one
-- event. The range is given for every table, since a join might otherwise read all of it. No CTE is joined
-- with another, since the planner knows the size of none. `watched_data` is null where a log's data is left
-- out of its event.
-- params: span block_range, now timestamptz, watched_block_number bigint[],
--   watched_log_index integer[], watched_transaction_index integer[], watched_address bytea[],
--   watched_topics text[], watched_data bytea[], queue_events bigint, queue_bytes bigint,
--   block_events bigint, block_bytes bigint, queue_events_reason text,
--   queue_bytes_reason text, block_events_reason text, block_bytes_reason text
-- literals: none
-- returns: the number of queues with something new
-- index: transactions_pkey, token_transfers_pkey, internal_transfers_pkey, dex_trades_pkey, blocks_pkey,
--   webhooks_by_watch_address, webhooks_pkey, delivery_queues_pkey
WITH events AS MATERIALIZED (
    SELECT nextval(pg_get_serial_sequence('event_bodies', 'id')) AS body_id, e.*
    FROM (
        SELECT 'tx' AS event, t.block_number, t.ordinal AS transaction, -1 AS log_index,
            -1 AS transfer, transaction_event(t, b) AS body, array_agg(w.id) AS webhook_ids
        FROM transactions t
        CROSS JOIN unnest(ARRAY[t.from_address, nullif(t.to_address, t.from_address),
            nullif(t.contract_address, t.from_address)]) AS party
        JOIN webhooks w
            ON w.watch_address = party AND w.active AND 'tx' = ANY (w.event_types)
        JOIN blocks b
            ON b.number = t.block_number AND b.number BETWEEN (%(span)s::block_range).first_block AND (%(span)s::block_range).last_block
        WHERE t.ordinal BETWEEN (%(span)s::block_range).first_transaction AND (%(span)s::block_range).last_transaction
        GROUP BY t.ordinal, b.number
        UNION ALL
        SELECT 'token_transfer', x.block_number, t.ordinal, x.log_index, x.ordinal,
            token_transfer_event(x, t, moved_type(k, x.token_id), b.timestamp), array_agg(w.id)
        FROM token_transfers x
        CROSS JOIN unnest(ARRAY[x.from_address, nullif(x.to_address, x.from_address)]) AS party
        JOIN webhooks w
            ON w.watch_address = party AND w.active AND 'token_transfer' = ANY (w.event_types)
        JOIN blocks b
            ON b.number = x.block_number AND b.number BETWEEN (%(span)s::block_range).first_block AND (%(span)s::block_range).last_block
        JOIN transactions t
            ON t.ordinal = b.transactions_before + x.transaction_index
            AND t.ordinal BETWEEN (%(span)s::block_range).first_transaction AND (%(span)s::block_range).last_transaction
        JOIN tokens k ON k.address = x.token_address
        WHERE x.ordinal BETWEEN (%(span)s::block_range).first_transfer AND (%(span)s::block_range).last_transfer
        GROUP BY x.ordinal, t.ordinal, k.address, b.number
        UNION ALL
        -- A log_index of -1 puts it after its transaction and before the transaction's logs.
        SELECT 'internal_transfer', i.block_number, t.ordinal, -1, i.ordinal,
            internal_transfer_event(i, t, b), array_agg(w.id)
        FROM internal_transfers i
        CROSS JOIN unnest(ARRAY[i.from_address, nullif(i.to_address, i.from_address)]) AS party
        JOIN webhooks w
            ON w.watch_address = party AND w.active AND 'internal_transfer' = ANY (w.event_types)
        JOIN blocks b
            ON b.number = i.block_number AND b.number BETWEEN (%(span)s::block_range).first_block AND (%(span)s::block_range).last_block
        JOIN transactions t
            ON t.ordinal = b.transactions_before + i.transaction_index
            AND t.ordinal BETWEEN (%(span)s::block_range).first_transaction AND (%(span)s::block_range).last_transaction
        WHERE i.ordinal BETWEEN (%(span)s::block_range).first_internal AND (%(span)s::block_range).last_internal
        GROUP BY i.ordinal, t.ordinal, b.number
        UNION ALL
        SELECT 'dex_trade', d.block_number, t.ordinal, d.log_index, 9223372036854775806,
            dex_trade_event(d, t, e.name, b.timestamp), array_agg(w.id)
        FROM dex_trades d
        CROSS JOIN unnest(ARRAY[d.maker, nullif(d.pool_address, d.maker)]) AS party
        JOIN webhooks w
            ON w.watch_address = party AND w.active AND 'dex_trade' = ANY (w.event_types)
        JOIN blocks b
            ON b.number = d.block_number AND b.number BETWEEN (%(span)s::block_range).first_block AND (%(span)s::block_range).last_block
        JOIN transactions t
            ON t.ordinal = b.transactions_before + d.transaction_index
            AND t.ordinal BETWEEN (%(span)s::block_range).first_transaction AND (%(span)s::block_range).last_transaction
        JOIN dexes e ON e.dex_id = d.dex_id
        WHERE d.ordinal BETWEEN (%(span)s::block_range).first_trade AND (%(span)s::block_range).last_trade
        GROUP BY d.ordinal, t.ordinal, e.dex_id, b.number
        UNION ALL
        -- The highest number puts it after the transfers and trades of the same log.
        SELECT 'log', l.block_number, t.ordinal, l.log_index, 9223372036854775807,
            log_event(t, l.log_index, l.address, l.topics, l.data, b.timestamp), l.webhook_ids
        FROM (
            SELECT *, ARRAY(
                SELECT w.id
                FROM webhooks w
                WHERE w.watch_address = address AND w.active AND 'log' = ANY (w.event_types)
                    AND topics_match(w.topics::jsonb, l.topics::jsonb)) AS webhook_ids
            FROM unnest(%(watched_block_number)s::bigint[], %(watched_log_index)s::integer[],
                %(watched_transaction_index)s::integer[], %(watched_address)s::bytea[],
                %(watched_topics)s::text[], %(watched_data)s::bytea[])
                AS l (block_number, log_index, transaction_index, address, topics, data)
            OFFSET 0
        ) AS l
        JOIN blocks b
            ON b.number = l.block_number AND b.number BETWEEN (%(span)s::block_range).first_block AND (%(span)s::block_range).last_block
        JOIN transactions t
            ON t.ordinal = b.transactions_before + l.transaction_index
            AND t.ordinal BETWEEN (%(span)s::block_range).first_transaction AND (%(span)s::block_range).last_transaction
        WHERE l.webhook_ids <> '{}'
    ) AS e
), matched AS MATERIALIZED (
    SELECT e.body_id, octet_length(e.body) AS bytes, w.webhook_id, e.event, e.block_number,
        e.transaction, e.log_index, e.transfer
    FROM events e
    CROSS JOIN unnest(e.webhook_ids) AS w (webhook_id)
), ranked AS (
    SELECT s.webhook_id, s.bytes,
        row_number() OVER (PARTITION BY s.body_id ORDER BY s.webhook_bytes, s.webhook_id) AS rank
    FROM (
        SELECT m.body_id, m.webhook_id, m.bytes,
            sum(m.bytes) OVER (PARTITION BY m.webhook_id) AS webhook_bytes
        FROM matched m
    ) AS s
), counted AS (
    SELECT webhook_id, count(*) AS events, sum(bytes) AS bytes,
        coalesce(sum(bytes) FILTER (WHERE rank = 1), 0) AS stored_bytes
    FROM ranked
    GROUP BY webhook_id
), judged AS (
    SELECT w.id AS webhook_id, CASE
        WHEN q.pending_count + c.events > %(queue_events)s
            THEN %(queue_events_reason)s
        WHEN q.pending_bytes + c.bytes > %(queue_bytes)s
            THEN %(queue_bytes_reason)s
        WHEN sum(c.events) OVER (ORDER BY c.events, w.created_at, w.id)
                > %(block_events)s::bigint * ((%(span)s::block_range).last_block - (%(span)s::block_range).first_block + 1)
            THEN %(block_events_reason)s
        WHEN sum(c.stored_bytes) OVER (ORDER BY c.bytes, w.id)
                > %(block_bytes)s::bigint * ((%(span)s::block_range).last_block - (%(span)s::block_range).first_block + 1)
            THEN %(block_bytes_reason)s
        END AS stopped_reason
    FROM counted c
    JOIN webhooks w ON w.id = c.webhook_id
    JOIN delivery_queues q ON q.webhook_id = c.webhook_id
), stopped AS (
    UPDATE webhooks w
    SET active = false, stopped_reason = j.stopped_reason
    FROM judged j
    WHERE w.id = j.webhook_id AND j.stopped_reason IS NOT NULL AND w.active
), judged_events AS MATERIALIZED (
    SELECT m.*, m.webhook_id IN (
        SELECT webhook_id FROM judged WHERE stopped_reason IS NOT NULL) AS is_stopped
    FROM matched m
), stored AS (
    INSERT INTO event_bodies (id, body)
    SELECT e.body_id, e.body
    FROM events e
    WHERE e.body_id NOT IN (
        SELECT body_id FROM judged_events GROUP BY body_id HAVING bool_and(is_stopped))
), inserted AS (
    INSERT INTO deliveries (webhook_id, event, block_number, body_id, body_bytes, created_at)
    SELECT m.webhook_id, m.event, m.block_number, m.body_id, m.bytes, %(now)s
    FROM judged_events m
    WHERE NOT m.is_stopped
    ORDER BY m.transaction, m.log_index, m.transfer, m.webhook_id
    RETURNING webhook_id, block_number, body_bytes
), woken AS (
    UPDATE delivery_queues q
    SET fresh_block = least(q.fresh_block, i.first_block),
        pending_count = q.pending_count + i.events,
        pending_bytes = q.pending_bytes + i.bytes
    FROM (
        SELECT webhook_id, min(block_number) AS first_block, count(*) AS events,
            sum(body_bytes) AS bytes
        FROM inserted
        GROUP BY webhook_id
    ) AS i
    WHERE q.webhook_id = i.webhook_id
    RETURNING 1
)
SELECT count(*) FROM woken;
