-- Fills the logs of addresses in blocks from the table that has all logs.
-- params: numbers bigint[], addresses bytea[]
-- returns: nothing
-- index: blocks_pkey, logs_by_address, event_topics_pkey
INSERT INTO contract_events (ordinal, block_number, transaction_index, log_index, address, topic0, topic1, topic2,
    topic3)
SELECT first_ordinal_in(b.number) + l.log_index, b.number, l.transaction_index, l.log_index, l.address, e.topic0,
    nullif(substr(l.topics, 1, 32), ''), nullif(substr(l.topics, 33, 32), ''), nullif(substr(l.topics, 65, 32), '')
FROM unnest(%(numbers)s::bigint[], %(addresses)s::bytea[]) AS n (number, address)
JOIN blocks b ON b.number = n.number
CROSS JOIN LATERAL (
    SELECT * FROM logs o
    WHERE o.address = n.address AND o.ordinal >= b.logs_before AND o.ordinal < b.logs_before + b.log_count
) AS l
LEFT JOIN event_topics e ON e.topic_id = l.topic_id;
