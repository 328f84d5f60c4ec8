-- The blocks in which a contract's implementation is read, the oldest first: its creation and the head, the newest in
-- which an event of a proxy says that it may have changed, those from which on its views have another form; and, as it
-- may change without an event, the newest in which the contract emitted logs, and others of these far apart.
-- params: address bytea, topics bytea[], upgraded bytea, most integer, samples integer
-- returns: number and hash of each, whether the implementation may have changed with it (null: it is the head), and a
--   JSON text of the implementations that its events of the topic `upgraded` name, with the transactions' indexes
-- index: contract_changes_pkey, contract_events_by_topic0, contracts_pkey, event_views_by_address, log_emitters_pkey,
--   blocks_pkey
WITH change_logs AS (
    SELECT e.*
    FROM unnest(%(topics)s::bytea[]) AS t (topic)
    CROSS JOIN LATERAL (
        SELECT o.ordinal, o.block_number, o.transaction_index, o.topic0, o.topic1 FROM contract_events o
        WHERE o.address = %(address)s AND o.topic0 = t.topic
        ORDER BY o.block_number DESC LIMIT %(most)s
    ) AS e
    ORDER BY e.block_number DESC LIMIT %(most)s
)
SELECT b.number, b.hash, bool_or(n.is_change), (
    SELECT coalesce(json_agg(json_build_array(t.transaction_index, '0x' || encode(substr(t.topic1, 13), 'hex'))
        ORDER BY t.ordinal), '[]')::text
    FROM change_logs t WHERE t.block_number = b.number AND t.topic0 = %(upgraded)s AND t.topic1 IS NOT NULL)
FROM (
    (SELECT c.block_number AS number, true AS is_change FROM contract_changes c WHERE c.address = %(address)s
    ORDER BY c.block_number DESC LIMIT %(most)s)
    UNION ALL
    SELECT t.block_number, true FROM change_logs t
    UNION ALL
    SELECT (f.value ->> 'first')::bigint, true
    FROM event_views v
    CROSS JOIN LATERAL jsonb_array_elements(v.forms) AS f
    WHERE v.address = %(address)s
    UNION ALL
    SELECT max(c.block_number), true FROM contracts c WHERE c.address = %(address)s
    UNION ALL
    (SELECT l.block_number, false FROM log_emitters l WHERE l.address = %(address)s
    ORDER BY l.block_number DESC LIMIT %(samples)s)
    UNION ALL
    SELECT l.block_number, false
    FROM (
        SELECT min(o.block_number) AS first, max(o.block_number) - min(o.block_number) AS blocks
        FROM log_emitters o WHERE o.address = %(address)s
    ) AS span
    CROSS JOIN generate_series(0, %(samples)s - 1) AS s (place)
    CROSS JOIN LATERAL (
        SELECT o.block_number FROM log_emitters o
        WHERE o.address = %(address)s AND o.block_number >= span.first + span.blocks * s.place / %(samples)s
        ORDER BY o.block_number LIMIT 1
    ) AS l
    UNION ALL
    SELECT max(o.number), NULL FROM blocks o
) AS n
JOIN blocks b ON b.number = n.number
GROUP BY b.number
ORDER BY b.number;
