-- The newest stored events of an owner's approvals, and which of them are stored. Planned for each owner:
-- of one with more events than are read, the index is read in its order, of others all are sorted.
-- params: owner bytea, emitters bytea[] null, kept_block bigint, topics bytea[], limit integer
-- returns: one row: index version, number and hash and Unix seconds of the newest block or null, SCAN_LOGS
--   or null, JSON object of the numbers of these topics, JSON array of [block, log index, transaction index, topic
--   number, emitter, other topics, 96 bytes of data] from the newest
-- index: logs_of_approvals, event_topics_topic0_key, blocks_pkey, chain_pkey
SELECT index_version(), n.number, n.hash, seconds(n.timestamp), (SELECT c.stored_logs FROM chain c),
    (SELECT coalesce(json_object_agg(encode(e.topic0, 'hex'), e.topic_id), '{}')
        FROM event_topics e WHERE e.topic0 = ANY (%(topics)s::bytea[])),
    json_list((
        SELECT string_agg(format('[%%s,%%s,%%s,%%s,"%%s","%%s","%%s"]', l.block_number, l.log_index,
            l.transaction_index, l.topic_id, hex(l.address), hex(l.topics), hex(l.data)), ','
            ORDER BY l.ordinal DESC)
        FROM (
            SELECT o.ordinal, o.block_number, o.log_index, o.transaction_index, o.topic_id,
                o.address, o.topics, substr(o.data, 1, 96) AS data
            FROM logs o
            WHERE substr(o.topics, 13, 20) = %(owner)s AND o.topic_id < 0 AND o.ordinal >= first_kept_ordinal('logs', %(kept_block)s::bigint)
                AND (%(emitters)s::bytea[] IS NULL OR o.address = ANY (%(emitters)s::bytea[]))
            ORDER BY o.ordinal DESC
            LIMIT %(limit)s
        ) AS l))
FROM (SELECT max(b.number) AS number FROM blocks b) AS newest
LEFT JOIN blocks n ON n.number = newest.number;
