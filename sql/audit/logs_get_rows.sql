-- All columns of logs, to compare with the node.
-- params: block_from bigint, block_to bigint
-- returns: jsonb by column; the topics with the first
-- index: logs_pkey, blocks_pkey, event_topics_pkey
SELECT to_jsonb(l) || jsonb_build_object('topics',
    coalesce((SELECT e.topic0 FROM event_topics e WHERE e.topic_id = l.topic_id), '') || l.topics)
FROM logs l
WHERE l.ordinal >= (SELECT b.logs_before FROM blocks b WHERE b.number = %(block_from)s)
    AND l.ordinal < (SELECT b.logs_before + b.log_count FROM blocks b
        WHERE b.number = %(block_to)s);
