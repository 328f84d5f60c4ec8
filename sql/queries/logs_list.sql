-- Stored logs of a range of blocks, at any depth: a page is a range of ordinals.
-- params: block_from bigint, block_to bigint, direction text, limit integer, offset bigint,
--   after bigint null, seen_block bigint null
-- literals: direction
-- returns: one row: index version, data (JSON text; null: too large), count in data, total in the
--   range; for cursors: ordinal of the last row where more follow, newest block of the rows,
--   block seen
-- index: logs_pkey, event_topics_pkey, transactions_pkey, blocks_pkey
WITH ordinals AS (
    SELECT first, last FROM log_ordinals(%(block_from)s, %(block_to)s)
), bounds AS (
    SELECT p.lowest, p.highest, p.next
    FROM ordinals,
        page_of_range(ordinals.first, ordinals.last, %(offset)s, %(after)s, %(limit)s,
            %(direction)s) AS p
), page AS (
    SELECT l.ordinal, octet_length(l.data) AS bytes
    FROM logs l
    WHERE l.ordinal BETWEEN (SELECT lowest FROM bounds) AND (SELECT highest FROM bounds)
    ORDER BY CASE WHEN %(direction)s = 'asc' THEN l.ordinal END ASC,
        CASE WHEN %(direction)s = 'desc' THEN l.ordinal END DESC
    LIMIT %(limit)s
)
SELECT index_version(),
    CASE WHEN fits_page((SELECT sum(bytes) FROM page), %(limit)s)
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
    coalesce((SELECT greatest(last - first + 1, 0) FROM ordinals), 0),
    (SELECT next FROM bounds),
    (SELECT block_reference(b)
    FROM logs l
    JOIN blocks b ON b.number = l.block_number
    WHERE l.ordinal = (SELECT highest FROM bounds)),
    (SELECT block_reference(b) FROM blocks b WHERE b.number = %(seen_block)s);
