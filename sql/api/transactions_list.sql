-- Transactions of a range of blocks, at any depth: a page is a range of ordinals.
-- params: block_from bigint, block_to bigint, direction text, limit integer, offset bigint
-- plan depends on: direction
-- returns: one row: data (JSON text), count in data, total in the range
-- index: transactions_pkey, blocks_pkey
WITH span AS (
    SELECT first, last
    FROM (SELECT transactions_before AS first FROM blocks WHERE number >= %(block_from)s
            ORDER BY number ASC LIMIT 1) AS oldest,
        (SELECT transactions_before + transaction_count - 1 AS last FROM blocks
            WHERE number <= %(block_to)s ORDER BY number DESC LIMIT 1) AS newest
), window_ AS (
    SELECT
        CASE WHEN %(direction)s = 'asc' THEN first + skip
            ELSE greatest(last - skip - (%(limit)s - 1), first) END AS lowest,
        CASE WHEN %(direction)s = 'asc' THEN least(first + skip + (%(limit)s - 1), last)
            ELSE last - skip END AS highest
    FROM (SELECT first, last, least(%(offset)s, greatest(last - first + 1, 0)) AS skip FROM span)
)
SELECT coalesce(json_agg(transaction_record(page.t,
        (SELECT b.timestamp FROM blocks b WHERE b.number = (page.t).block_number))), '[]')::text,
    count(page.t),
    coalesce((SELECT greatest(last - first + 1, 0) FROM span), 0)
FROM (
    SELECT t
    FROM transactions t
    WHERE t.ordinal BETWEEN (SELECT lowest FROM window_) AND (SELECT highest FROM window_)
    ORDER BY CASE WHEN %(direction)s = 'asc' THEN t.ordinal END ASC,
        CASE WHEN %(direction)s = 'desc' THEN t.ordinal END DESC
    LIMIT %(limit)s
) AS page;
