-- The events of new blocks for every active webhook they concern, in chain order, and the queues
-- that have something to do now. A webhook whose queue would hold more than 10,000 is stopped, and so
-- are those with the most events where all would get more than 20,000 of a block: what a block costs
-- is bounded whatever is registered. Bodies are made of what is inserted. Each address is looked up
-- in the index, so idle webhooks cost nothing; or hashed, where the planner has no statistics of
-- webhooks yet, which an equality allows and = ANY does not. One transfer to oneself is one event.
-- The range is given for every table: a join that has only the other's rows to
-- go by might read all of it.
-- params: block_from bigint, block_to bigint, first_transaction bigint, last_transaction bigint,
--   first_transfer bigint, last_transfer bigint, now timestamptz, watched_block_number bigint[],
--   watched_log_index integer[], watched_transaction_index integer[], watched_address bytea[],
--   watched_topics text[], watched_data bytea[]
-- returns: the number of queues with something new
-- index: transactions_pkey, token_transfers_pkey, blocks_pkey, webhooks_by_watch_address,
--   webhooks_pkey, delivery_queues_pkey
WITH matched AS (
    SELECT w.id AS webhook_id, 'tx' AS event, t.block_number, t.ordinal AS transaction,
        -1 AS log_index, -1 AS transfer, t, NULL::token_transfers AS x, NULL AS token_type,
        NULL::bytea AS address, NULL AS topics, NULL::bytea AS data, b.timestamp
    FROM transactions t
    CROSS JOIN unnest(ARRAY[t.from_address, nullif(t.to_address, t.from_address),
        nullif(t.contract_address, t.from_address)]) AS party
    JOIN webhooks w
        ON w.watch_address = party AND w.active AND 'tx' = ANY (w.event_types)
    JOIN blocks b
        ON b.number = t.block_number AND b.number BETWEEN %(block_from)s AND %(block_to)s
    WHERE t.ordinal BETWEEN %(first_transaction)s AND %(last_transaction)s
    UNION ALL
    SELECT w.id, 'token_transfer', x.block_number, t.ordinal, x.log_index, x.ordinal, t, x, k.type,
        NULL, NULL, NULL, b.timestamp
    FROM token_transfers x
    CROSS JOIN unnest(ARRAY[x.from_address, nullif(x.to_address, x.from_address)]) AS party
    JOIN webhooks w
        ON w.watch_address = party AND w.active AND 'token_transfer' = ANY (w.event_types)
    JOIN blocks b
        ON b.number = x.block_number AND b.number BETWEEN %(block_from)s AND %(block_to)s
    JOIN transactions t
        ON t.ordinal = b.transactions_before + x.transaction_index
        AND t.ordinal BETWEEN %(first_transaction)s AND %(last_transaction)s
    JOIN tokens k ON k.address = x.token_address
    WHERE x.ordinal BETWEEN %(first_transfer)s AND %(last_transfer)s
    UNION ALL
    -- After the transfers that the same log made.
    SELECT w.id, 'log', l.block_number, t.ordinal, l.log_index, 9223372036854775807, t, NULL, NULL,
        l.address, l.topics, l.data, b.timestamp
    FROM unnest(%(watched_block_number)s::bigint[], %(watched_log_index)s::integer[],
        %(watched_transaction_index)s::integer[], %(watched_address)s::bytea[],
        %(watched_topics)s::text[], %(watched_data)s::bytea[])
        AS l (block_number, log_index, transaction_index, address, topics, data)
    JOIN webhooks w
        ON w.watch_address = l.address AND w.active AND 'log' = ANY (w.event_types)
        AND topics_match(w.topics::jsonb, l.topics::jsonb)
    JOIN blocks b
        ON b.number = l.block_number AND b.number BETWEEN %(block_from)s AND %(block_to)s
    JOIN transactions t
        ON t.ordinal = b.transactions_before + l.transaction_index
        AND t.ordinal BETWEEN %(first_transaction)s AND %(last_transaction)s
), counted AS (
    SELECT webhook_id, count(*) AS events FROM matched GROUP BY webhook_id
), judged AS (
    SELECT w.id AS webhook_id, CASE
        WHEN q.pending_count + c.events > 10000
            THEN 'its queue held 10,000 undelivered events'
        WHEN sum(c.events) OVER (ORDER BY c.events, w.created_at, w.id)
                > 20000 * (%(block_to)s - %(block_from)s + 1)
            THEN 'it had the most events of a block with more than are written at once'
        END AS stopped_reason
    FROM counted c
    JOIN webhooks w ON w.id = c.webhook_id
    JOIN delivery_queues q ON q.webhook_id = c.webhook_id
), stopped AS (
    UPDATE webhooks w
    SET active = false, stopped_reason = j.stopped_reason
    FROM judged j
    WHERE w.id = j.webhook_id AND j.stopped_reason IS NOT NULL AND w.active
), inserted AS (
    INSERT INTO deliveries (webhook_id, event, block_number, body, created_at)
    SELECT m.webhook_id, m.event, m.block_number, CASE m.event
        WHEN 'tx' THEN transaction_event(m.t, m.timestamp)
        WHEN 'log' THEN
            log_event(m.t, m.log_index, m.address, m.topics, m.data, m.timestamp)
        ELSE token_transfer_event(m.x, m.t, m.token_type, m.timestamp) END, %(now)s
    FROM matched m
    -- A hash of the few, where a join could read all of them for each event.
    WHERE m.webhook_id NOT IN (SELECT webhook_id FROM judged WHERE stopped_reason IS NOT NULL)
    ORDER BY m.transaction, m.log_index, m.transfer, m.webhook_id
    RETURNING webhook_id, block_number
), woken AS (
    UPDATE delivery_queues q
    SET fresh_block = least(q.fresh_block, i.first_block),
        pending_count = q.pending_count + i.events
    FROM (
        SELECT webhook_id, min(block_number) AS first_block, count(*) AS events
        FROM inserted
        GROUP BY webhook_id
    ) AS i
    WHERE q.webhook_id = i.webhook_id
    RETURNING 1
)
SELECT count(*) FROM woken;
