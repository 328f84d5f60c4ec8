-- Stores a test delivery of a type that a webhook subscribes to, about a made-up transaction.
-- params: webhook_id bigint, now timestamptz
-- returns: no row when the webhook is gone; else the delivery's id
-- index: webhooks_pkey
WITH test AS MATERIALIZED (
    SELECT nextval(pg_get_serial_sequence('event_bodies', 'id')) AS body_id, w.id AS webhook_id,
        made.event, (
            SELECT row_to_json(body)::text
            FROM (SELECT made.event, iso(%(now)s) AS "timestamp", made.data) AS body) AS body
    FROM webhooks w
    CROSS JOIN advance_delivery_ids()
    CROSS JOIN LATERAL (
        SELECT w.event_types[1] AS event, CASE w.event_types[1]
            WHEN 'tx' THEN (SELECT row_to_json(data) FROM (
                SELECT hex(decode(repeat('00', 32), 'hex')) AS "hash", hex(w.watch_address) AS "from",
                    hex(w.watch_address) AS "to", '0' AS "value", 0 AS "blockNumber",
                    true AS "status", NULL AS "contractAddress", true AS "test") AS data)
            WHEN 'log' THEN (SELECT row_to_json(fields) FROM (
                SELECT hex(decode(repeat('00', 32), 'hex')) AS "hash", 0 AS "blockNumber",
                    0 AS "logIndex", 0 AS "transactionIndex", hex(w.watch_address) AS "address",
                    '[]'::json AS "topics", '0x' AS "data", true AS "test") AS fields)
            WHEN 'internal_transfer' THEN (SELECT row_to_json(data) FROM (
                SELECT hex(decode(repeat('00', 32), 'hex')) AS "hash", hex(w.watch_address) AS "from",
                    hex(w.watch_address) AS "to", '0' AS "value", 0 AS "blockNumber",
                    0 AS "transferIndex", 'call' AS "type", false AS "proven", true AS "test") AS data)
            WHEN 'dex_trade' THEN (SELECT row_to_json(data) FROM (
                SELECT hex(decode(repeat('00', 32), 'hex')) AS "hash", 0 AS "blockNumber",
                    0 AS "logIndex", 'v2' AS "dex", hex(w.watch_address) AS "pairAddress", NULL AS "poolId",
                    hex(w.watch_address) AS "maker",
                    hex(decode(repeat('00', 20), 'hex')) AS "tokenIn",
                    hex(decode(repeat('00', 20), 'hex')) AS "tokenOut", '0' AS "amountIn",
                    '0' AS "amountOut", '["dex","tokenIn","tokenOut"]'::json AS "unproven",
                    true AS "test") AS data)
            WHEN 'token_transfer' THEN (SELECT row_to_json(data) FROM (
                SELECT hex(decode(repeat('00', 32), 'hex')) AS "hash", hex(w.watch_address) AS "from",
                    hex(w.watch_address) AS "to", '0' AS "value", 0 AS "blockNumber",
                    hex(decode(repeat('00', 20), 'hex')) AS "tokenAddress", 'BEP20' AS "tokenType",
                    NULL AS "tokenId", 0 AS "logIndex", 0 AS "batchIndex",
                    '["tokenType"]'::json AS "unproven", true AS "test") AS data)
            END AS data
    ) AS made
    WHERE w.id = %(webhook_id)s
), stored AS (
    INSERT INTO event_bodies (id, body)
    SELECT body_id, body FROM test
)
INSERT INTO deliveries (webhook_id, event, body_id, body_bytes, created_at)
SELECT webhook_id, event, body_id, octet_length(body), %(now)s
FROM test
RETURNING id;
