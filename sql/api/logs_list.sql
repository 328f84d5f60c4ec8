-- Stored logs of a range of blocks, at any depth: a page is a range of ordinals.
-- params: block_from bigint, block_to bigint, direction text, limit integer, offset bigint
-- returns: one row: index version, data (JSON text), count in data, total in the range
-- index: logs_pkey, event_topics_pkey, transactions_pkey, blocks_pkey
WITH ordinals AS (
    SELECT first, last FROM log_ordinals(%(block_from)s, %(block_to)s)
), bounds AS (
    SELECT p.lowest, p.highest
    FROM ordinals,
        page_of_range(ordinals.first, ordinals.last, %(offset)s, %(limit)s, %(direction)s) AS p
)
SELECT index_version(),
    json_list(string_agg(
        (SELECT log_record(page.l,
            (SELECT e.topic0 FROM event_topics e WHERE e.topic_id = (page.l).topic_id),
            (SELECT t.hash FROM transactions t
                WHERE t.ordinal = b.transactions_before + (page.l).transaction_index),
            b.timestamp)::text
        FROM blocks b
        WHERE b.number = (page.l).block_number), ',')),
    count(page.l),
    coalesce((SELECT greatest(last - first + 1, 0) FROM ordinals), 0)
FROM (
    SELECT l
    FROM logs l
    WHERE l.ordinal BETWEEN (SELECT lowest FROM bounds) AND (SELECT highest FROM bounds)
    ORDER BY CASE WHEN %(direction)s = 'asc' THEN l.ordinal END ASC,
        CASE WHEN %(direction)s = 'desc' THEN l.ordinal END DESC
    LIMIT %(limit)s
) AS page;
