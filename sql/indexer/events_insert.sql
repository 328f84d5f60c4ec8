-- The events of new blocks for every active webhook they concern, in chain order, and the queues
-- that have something to do now. Each address is looked up in the index, so idle webhooks cost
-- nothing; or hashed, where the planner has no statistics of webhooks yet, which an equality allows and
-- = ANY does not. One transfer to oneself is one event. The range is given for every table: a join that
-- has only the other's rows to go by might read all of it.
-- params: block_from bigint, block_to bigint, first_transaction bigint, last_transaction bigint,
--   first_transfer bigint, last_transfer bigint, now timestamptz
-- returns: the number of queues with something new
-- index: transactions_pkey, token_transfers_pkey, blocks_pkey, webhooks_by_watch_address
WITH matched AS (
    SELECT w.id AS webhook_id, 'tx' AS event, t.block_number, t.ordinal AS transaction,
        -1 AS transfer, transaction_event(t, b.timestamp) AS body
    FROM transactions t
    CROSS JOIN unnest(ARRAY[t.from_address, nullif(t.to_address, t.from_address),
        nullif(t.contract_address, t.from_address)]) AS party
    JOIN webhooks w
        ON w.watch_address = party AND w.active AND 'tx' = ANY (w.event_types)
    JOIN blocks b
        ON b.number = t.block_number AND b.number BETWEEN %(block_from)s AND %(block_to)s
    WHERE t.ordinal BETWEEN %(first_transaction)s AND %(last_transaction)s
    UNION ALL
    SELECT w.id, 'token_transfer', x.block_number, t.ordinal, x.ordinal,
        token_transfer_event(x, t.hash, k.type, b.timestamp)
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
), inserted AS (
    INSERT INTO deliveries (webhook_id, event, block_number, body, created_at)
    SELECT webhook_id, event, block_number, body, %(now)s
    FROM matched
    ORDER BY transaction, transfer, webhook_id
    RETURNING webhook_id, block_number
), woken AS (
    UPDATE delivery_queues q
    SET fresh_block = least(q.fresh_block, i.first_block)
    FROM (
        SELECT webhook_id, min(block_number) AS first_block
        FROM inserted
        GROUP BY webhook_id
    ) AS i
    WHERE q.webhook_id = i.webhook_id
    RETURNING 1
)
SELECT count(*) FROM woken;
