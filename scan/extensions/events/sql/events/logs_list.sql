-- Stored logs of a followed contract by topics, in the chain's order.
-- params: address bytea, topic0 bytea null, topic1 bytea null, topic2 bytea null, topic3 bytea null,
--   block_from bigint, block_to bigint, after_block bigint null, after_index integer null, direction text,
--   limit integer
-- literals: topic0, topic1, topic2, topic3, direction, after_block, after_index, limit
-- returns: block number, log index, transaction index, transaction's hash, time (ISO 8601), topics, data
-- index: contract_events_by_topic0, contract_events_by_topic1, contract_events_by_topic2,
--   contract_events_by_topic3, blocks_pkey, transactions_pkey, logs_pkey
SELECT e.block_number, e.log_index, e.transaction_index, t.hash, iso(b.timestamp),
    ARRAY[e.topic0, e.topic1, e.topic2, e.topic3],
    coalesce(e.data, (SELECT l.data FROM logs l WHERE l.ordinal = b.logs_before + e.log_index))
FROM (
    SELECT *
    FROM contract_events o
    WHERE o.address = %(address)s
        AND (%(topic0)s IS NULL OR o.topic0 = %(topic0)s) AND (%(topic1)s IS NULL OR o.topic1 = %(topic1)s)
        AND (%(topic2)s IS NULL OR o.topic2 = %(topic2)s) AND (%(topic3)s IS NULL OR o.topic3 = %(topic3)s)
        AND o.block_number BETWEEN %(block_from)s AND %(block_to)s
        AND (%(after_block)s IS NULL OR CASE %(direction)s
            WHEN 'asc' THEN (o.block_number, o.log_index) > (%(after_block)s, %(after_index)s)
            ELSE (o.block_number, o.log_index) < (%(after_block)s, %(after_index)s) END)
    ORDER BY CASE WHEN %(direction)s = 'asc' THEN o.block_number END ASC,
        CASE WHEN %(direction)s = 'asc' THEN o.log_index END ASC,
        CASE WHEN %(direction)s = 'desc' THEN o.block_number END DESC,
        CASE WHEN %(direction)s = 'desc' THEN o.log_index END DESC
    LIMIT %(limit)s
) AS e
JOIN blocks b ON b.number = e.block_number
JOIN transactions t ON t.ordinal = b.transactions_before + e.transaction_index
ORDER BY CASE WHEN %(direction)s = 'asc' THEN e.ordinal END ASC,
    CASE WHEN %(direction)s = 'desc' THEN e.ordinal END DESC;
