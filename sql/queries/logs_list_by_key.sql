-- Stored logs by emitter, by first topic, by both; other topics narrow them (see has_topics()).
-- See "Pages of the long lists" in schema.sql.
-- params: address bytea null, topic_id integer null, topic1 bytea null, topic2 bytea null,
--   topic3 bytea null, accepted integer, has_address boolean, has_topic0 boolean, has_rest boolean,
--   has_total boolean, block_from bigint, block_to bigint, has_lower boolean, has_upper boolean,
--   has_list boolean, list text null, key bytea null, direction text, limit integer, offset bigint
-- literals: has_address, has_topic0, has_rest, has_total, has_list, list, has_lower, has_upper, direction, limit
-- returns: one row: index version, data (JSON text; null: too large), count in data, total where there is a list or
--   has_total asks for it
-- index: logs_by_address, logs_by_topic, list_checkpoints_pkey, logs_pkey, event_topics_pkey,
--   transactions_pkey, blocks_pkey
WITH entries AS (
    SELECT coalesce(CASE %(list)s
        WHEN 'logs_by_address' THEN (
            SELECT a.log_count FROM addresses a WHERE a.address = %(key)s)
        WHEN 'logs_by_topic0' THEN (
            SELECT e.log_count FROM event_topics e WHERE e.topic0 = %(key)s) END, 0) AS total
), start AS (
    SELECT s.ordinal, s.pass
    FROM entries, list_start(%(list)s, %(key)s, entries.total, %(offset)s, %(direction)s) AS s
), ordinals AS (
    SELECT first, last FROM log_ordinals(%(block_from)s, %(block_to)s)
), bounds AS (
    SELECT CASE WHEN %(has_list)s THEN (SELECT ordinal FROM start)
            ELSE (SELECT first FROM ordinals) END AS lowest,
        CASE WHEN %(has_list)s THEN (SELECT ordinal FROM start)
            ELSE (SELECT last FROM ordinals) END AS highest
), page AS (
    SELECT ordinal
    FROM (
        SELECT l.ordinal
        FROM logs l
        WHERE (NOT %(has_address)s OR l.address = %(address)s)
            AND (NOT %(has_topic0)s OR l.topic_id = %(topic_id)s)
            AND (NOT %(has_rest)s OR has_topics(l.topic_id, l.topics, %(topic_id)s, %(topic1)s,
                %(topic2)s, %(topic3)s, %(accepted)s))
            AND (NOT %(has_lower)s OR l.ordinal >= (SELECT lowest FROM bounds))
            AND (NOT %(has_upper)s
                OR (l.ordinal, l.ordinal) <= (SELECT highest, highest FROM bounds))
        ORDER BY CASE WHEN %(direction)s = 'asc' THEN l.ordinal END ASC,
            CASE WHEN %(direction)s = 'desc' THEN l.ordinal END DESC
        LIMIT entries_to_read(%(has_list)s, %(offset)s, %(limit)s)
    ) AS places
    ORDER BY CASE WHEN %(direction)s = 'asc' THEN ordinal END ASC,
        CASE WHEN %(direction)s = 'desc' THEN ordinal END DESC
    LIMIT %(limit)s
    OFFSET (SELECT pass FROM start)
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
            WHERE l.ordinal = page.ordinal), ','))
        FROM page) END,
    (SELECT count(*) FROM page),
    CASE WHEN %(has_list)s THEN (SELECT total FROM entries)
        WHEN %(has_total)s THEN (
            SELECT count(*)
            FROM logs l
            WHERE (NOT %(has_address)s OR l.address = %(address)s)
                AND (NOT %(has_topic0)s OR l.topic_id = %(topic_id)s)
                AND (NOT %(has_rest)s OR has_topics(l.topic_id, l.topics, %(topic_id)s, %(topic1)s,
                    %(topic2)s, %(topic3)s, %(accepted)s))
                AND (NOT %(has_lower)s OR l.ordinal >= (SELECT lowest FROM bounds))
                AND (NOT %(has_upper)s
                    OR (l.ordinal, l.ordinal) <= (SELECT highest, highest FROM bounds))) END;
