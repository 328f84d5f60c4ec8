-- Columns of logs to compare with the node.
-- params: block_from bigint, block_to bigint
-- returns: block number, log index; transaction index, address, all topics, data
-- index: logs_pkey, blocks_pkey, event_topics_pkey
SELECT l.block_number, l.log_index, l.transaction_index, l.address,
    coalesce((SELECT e.topic0 FROM event_topics e WHERE e.topic_id = l.topic_id), '') || l.topics,
    l.data
FROM logs l
WHERE l.ordinal >= (SELECT b.logs_before FROM blocks b WHERE b.number = %(block_from)s)
    AND l.ordinal < (SELECT b.logs_before + b.log_count FROM blocks b
        WHERE b.number = %(block_to)s);
