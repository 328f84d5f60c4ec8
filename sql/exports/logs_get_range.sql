-- Stored logs of a range of blocks, in the chain's order.
-- params: block_from bigint, block_to bigint
-- returns: the columns of its kind in scan/exports/columns.py; numeric as text
-- index: logs_pkey, event_topics_pkey, blocks_pkey
SELECT l.block_number, l.log_index, l.transaction_index,
    (SELECT e.topic0 FROM event_topics e WHERE e.topic_id = l.topic_id), l.address, l.topics,
    l.data
FROM logs l
WHERE l.ordinal BETWEEN (SELECT first FROM log_ordinals(%(block_from)s, %(block_to)s))
    AND (SELECT last FROM log_ordinals(%(block_from)s, %(block_to)s))
ORDER BY l.ordinal;
