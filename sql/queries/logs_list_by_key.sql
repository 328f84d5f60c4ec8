-- Stored logs of one emitter (list logs_by_address) or with one first topic (…_topic0), in a range
-- of blocks, at any depth.
-- The range becomes a range of places in the list, whose pages start at a checkpoint.
-- See "Pages of the long lists" in schema.sql.
-- params: list text, key bytea, block_from bigint, block_to bigint, has_lower boolean,
--   has_upper boolean, direction text, limit integer, offset bigint, after bigint null,
--   seen_block bigint null
-- literals: list, has_lower, has_upper, direction, limit
-- returns: one row: index version, data (JSON text; null: too large), count in data, total; for
--   cursors: ordinal of the last row where more follow, newest block of the rows, block seen
-- index: logs_by_address, logs_by_topic, list_checkpoints_pkey, addresses_pkey, logs_pkey,
--   event_topics_pkey, event_topics_topic0_key, transactions_pkey, blocks_pkey
WITH entries AS MATERIALIZED (
    SELECT coalesce(CASE %(list)s
        WHEN 'logs_by_address' THEN (
            SELECT a.log_count FROM addresses a WHERE a.address = %(key)s)
        WHEN 'logs_by_topic0' THEN (
            SELECT e.log_count FROM event_topics e WHERE e.topic0 = %(key)s) END, 0) AS total
), ordinals AS (
    SELECT first, last FROM log_ordinals(%(block_from)s, %(block_to)s)
), bounds AS MATERIALIZED (
    SELECT entries.total AS list_total,
        CASE WHEN NOT %(has_lower)s THEN 0 ELSE coalesce((
            SELECT log_entries_before(
                %(list)s, %(key)s, entries.total, ordinals.first)
            FROM ordinals), entries.total) END AS first_place,
        CASE WHEN NOT %(has_upper)s THEN entries.total ELSE coalesce((
            SELECT log_entries_before(
                %(list)s, %(key)s, entries.total, ordinals.last + 1)
            FROM ordinals), 0) END AS end_place
    FROM entries
), span AS MATERIALIZED (
    SELECT list_total, first_place, end_place,
        CASE WHEN %(after)s IS NULL THEN least(%(offset)s, list_total)
            WHEN %(direction)s = 'asc' THEN greatest(log_entries_before(
                %(list)s, %(key)s, list_total, %(after)s + 1) - first_place, 0)
            ELSE greatest(end_place - log_entries_before(
                %(list)s, %(key)s, list_total, %(after)s), 0) END AS skip
    FROM bounds
), start AS MATERIALIZED (
    SELECT s.ordinal, s.pass, list_end(%(list)s, %(key)s, span.list_total, passed.entries,
        %(limit)s, %(direction)s) AS beyond
    FROM span,
        LATERAL (SELECT CASE WHEN %(direction)s = 'asc' THEN span.first_place
            ELSE span.list_total - span.end_place END + span.skip AS entries) AS passed,
        list_start(
            %(list)s, %(key)s, span.list_total, passed.entries, %(direction)s) AS s
), page AS (
    SELECT l.ordinal
    FROM logs l
    WHERE (%(list)s <> 'logs_by_address' OR l.address = %(key)s)
        AND (%(list)s <> 'logs_by_topic0' OR l.topic_id = (
            SELECT e.topic_id FROM event_topics e WHERE e.topic0 = %(key)s))
        AND (%(direction)s <> 'asc' OR (l.ordinal >= (SELECT ordinal FROM start)
            AND l.ordinal <= (SELECT beyond FROM start)))
        AND (%(direction)s <> 'desc' OR (l.ordinal <= (SELECT ordinal FROM start)
            AND l.ordinal >= (SELECT beyond FROM start)))
    ORDER BY CASE WHEN %(direction)s = 'asc' THEN l.ordinal END ASC,
        CASE WHEN %(direction)s = 'desc' THEN l.ordinal END DESC
    LIMIT (SELECT least(%(limit)s, greatest(end_place - first_place - skip, 0)) FROM span)
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
    (SELECT greatest(end_place - first_place, 0) FROM span),
    CASE WHEN (SELECT count(*) FROM page) < (SELECT end_place - first_place - skip FROM span)
        THEN CASE %(direction)s WHEN 'asc' THEN (SELECT max(ordinal) FROM page) ELSE (SELECT min(ordinal) FROM page) END END,
    (SELECT block_reference(b)
    FROM logs l
    JOIN blocks b ON b.number = l.block_number
    WHERE l.ordinal = (SELECT max(ordinal) FROM page)),
    (SELECT block_reference(b) FROM blocks b WHERE b.number = %(seen_block)s);
