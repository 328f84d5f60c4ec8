-- Stored logs of a range of blocks, in the chain's order.
-- params: columns identifiers, block_from bigint, block_to bigint
-- returns: the columns, which are those of its kind in parquet.py
-- index: logs_pkey, event_topics_pkey, blocks_pkey
SELECT %(columns)s
FROM logs l
LEFT JOIN LATERAL (SELECT e.topic0 FROM event_topics e WHERE e.topic_id = l.topic_id) AS x ON true
WHERE l.ordinal BETWEEN (SELECT first FROM log_ordinals(%(block_from)s, %(block_to)s))
    AND (SELECT last FROM log_ordinals(%(block_from)s, %(block_to)s))
ORDER BY l.ordinal;
