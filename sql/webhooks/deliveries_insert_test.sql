-- A delivery of the kind that a webhook subscribes to, about a transaction that never was.
-- params: webhook_id bigint, now timestamptz
-- returns: no row when the webhook is gone; else the delivery's id
-- index: webhooks_pkey
INSERT INTO deliveries (webhook_id, event, body, created_at)
SELECT w.id, made.event, (
    SELECT row_to_json(body)::text
    FROM (SELECT made.event, iso(%(now)s) AS "timestamp", made.data) AS body), %(now)s
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
        ELSE (SELECT row_to_json(data) FROM (
            SELECT hex(decode(repeat('00', 32), 'hex')) AS "hash", hex(w.watch_address) AS "from",
                hex(w.watch_address) AS "to", '0' AS "value", 0 AS "blockNumber",
                hex(decode(repeat('00', 20), 'hex')) AS "tokenAddress", 'BEP20' AS "tokenType",
                NULL AS "tokenId", 0 AS "logIndex", 0 AS "batchIndex", true AS "test") AS data)
        END AS data
) AS made
WHERE w.id = %(webhook_id)s
RETURNING id;
