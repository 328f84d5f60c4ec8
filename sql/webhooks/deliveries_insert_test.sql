-- A delivery of the kind that a webhook subscribes to, about a transaction that never was.
-- params: webhook_id bigint, now timestamptz
-- returns: no row when the webhook is gone; else the delivery's id
-- index: webhooks_pkey
INSERT INTO deliveries (webhook_id, event, body, created_at)
SELECT w.id, made.event, made.body::text, %(now)s
FROM webhooks w
CROSS JOIN advance_delivery_ids()
CROSS JOIN LATERAL (
    SELECT w.event_types[1] AS event, json_build_object(
        'event', w.event_types[1], 'timestamp', iso(%(now)s), 'data', CASE w.event_types[1]
            WHEN 'tx' THEN json_build_object(
                'hash', hex(decode(repeat('00', 32), 'hex')), 'from', hex(w.watch_address),
                'to', hex(w.watch_address), 'value', '0', 'blockNumber', 0, 'status', true,
                'contractAddress', NULL, 'test', true)
            ELSE json_build_object(
                'hash', hex(decode(repeat('00', 32), 'hex')), 'from', hex(w.watch_address),
                'to', hex(w.watch_address), 'value', '0', 'blockNumber', 0,
                'tokenAddress', hex(decode(repeat('00', 20), 'hex')), 'tokenType', 'BEP20',
                'tokenId', NULL, 'logIndex', 0, 'batchIndex', 0, 'test', true)
            END) AS body
) AS made
WHERE w.id = %(webhook_id)s
RETURNING id;
