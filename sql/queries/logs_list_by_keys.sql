-- Stored logs by emitter and topics together (see has_topics()), counted from their end.
-- They are read from the index of `list`, which leaves the least to filter; partitions outside of
-- `lowest` and `highest` are not opened: for these three see queries/lists_get_bounds.
-- params: list text, address bytea null, topic0 bytea null, topic1 bytea null, topic2 bytea null,
--   topic3 bytea null, topic_id integer null, is_conjunction boolean, accepted integer,
--   has_total boolean, block_from bigint, block_to bigint, has_lower boolean, has_upper boolean,
--   direction text, limit integer, offset bigint, after bigint null, seen_block bigint null,
--   lowest bigint, highest bigint
-- literals: list, has_total, has_lower, has_upper, direction, limit
-- returns: one row: index version, data (JSON text; null: too large), count in data, total where
--   has_total asks for it; for cursors: ordinal of the last row where more follow, newest block
--   of the rows, block seen
-- index: logs_by_address, logs_by_topic, logs_pkey, event_topics_pkey, transactions_pkey,
--   blocks_pkey
WITH ordinals AS MATERIALIZED (
    SELECT CASE %(direction)s WHEN 'asc' THEN greatest(first, %(after)s + 1) ELSE first END AS first,
        CASE %(direction)s WHEN 'desc' THEN least(last, %(after)s - 1) ELSE last END AS last
    FROM log_ordinals(%(block_from)s, %(block_to)s)
), page AS (
    SELECT l.ordinal
    FROM logs l
    WHERE (%(list)s <> 'logs_by_address' OR l.address = %(address)s)
        AND (%(list)s <> 'logs_by_topic0' OR l.topic_id = %(topic_id)s)
        AND (%(address)s IS NULL OR l.address = %(address)s)
        AND (%(topic0)s IS NULL OR NOT %(is_conjunction)s OR l.topic_id = %(topic_id)s)
        AND ((%(topic1)s IS NULL AND %(topic2)s IS NULL AND %(topic3)s IS NULL)
            OR has_topics(l.topic_id, l.topics, %(topic_id)s, %(topic1)s, %(topic2)s,
                %(topic3)s, %(accepted)s))
        AND l.ordinal >= %(lowest)s AND l.ordinal <= %(highest)s
        AND (NOT %(has_lower)s OR l.ordinal >= (SELECT first FROM ordinals))
        AND (NOT %(has_upper)s
            OR (l.ordinal, l.ordinal) <= (SELECT last, last FROM ordinals))
    ORDER BY CASE WHEN %(direction)s = 'asc' THEN l.ordinal END ASC,
        CASE WHEN %(direction)s = 'desc' THEN l.ordinal END DESC
    LIMIT %(limit)s
    OFFSET %(offset)s
)
SELECT index_version(),
    CASE WHEN fits_page((
        SELECT sum(octet_length(l.data)) FROM page JOIN logs l USING (ordinal)), %(limit)s)
    THEN (
        SELECT json_list(string_agg(
            (SELECT log_record(l,
                (SELECT e.topic0 FROM event_topics e WHERE e.topic_id = l.topic_id),
                (SELECT t.hash FROM transactions t
                    WHERE t.ordinal = b.transactions_before + l.transaction_index),
                b.timestamp)::text
            FROM logs l
            JOIN blocks b ON b.number = l.block_number
            WHERE l.ordinal = page.ordinal
                AND l.ordinal >= %(lowest)s AND l.ordinal <= %(highest)s), ','))
        FROM page) END,
    (SELECT count(*) FROM page),
    CASE WHEN %(has_total)s THEN (
        SELECT count(*)
        FROM logs l
        WHERE (%(list)s <> 'logs_by_address' OR l.address = %(address)s)
            AND (%(list)s <> 'logs_by_topic0' OR l.topic_id = %(topic_id)s)
            AND (%(address)s IS NULL OR l.address = %(address)s)
            AND (%(topic0)s IS NULL OR NOT %(is_conjunction)s OR l.topic_id = %(topic_id)s)
            AND ((%(topic1)s IS NULL AND %(topic2)s IS NULL AND %(topic3)s IS NULL)
                OR has_topics(l.topic_id, l.topics, %(topic_id)s, %(topic1)s, %(topic2)s,
                    %(topic3)s, %(accepted)s))
            AND l.ordinal >= %(lowest)s AND l.ordinal <= %(highest)s
            AND (NOT %(has_lower)s OR l.ordinal >= (SELECT first FROM ordinals))
            AND (NOT %(has_upper)s
                OR (l.ordinal, l.ordinal) <= (SELECT last, last FROM ordinals))) END,
    CASE WHEN (SELECT count(*) FROM page) = %(limit)s
        THEN CASE %(direction)s WHEN 'asc' THEN (SELECT max(ordinal) FROM page) ELSE (SELECT min(ordinal) FROM page) END END,
    (SELECT block_reference(b)
    FROM logs l
    JOIN blocks b ON b.number = l.block_number
    WHERE l.ordinal = (SELECT max(ordinal) FROM page)),
    (SELECT block_reference(b) FROM blocks b WHERE b.number = %(seen_block)s);
