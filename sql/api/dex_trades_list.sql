-- DEX trades of a range of blocks, at any depth: a page is a range of ordinals.
-- params: block_from bigint, block_to bigint, direction text, limit integer, offset bigint
-- plan depends on: direction
-- returns: one row: data (JSON text), count in data, total in the range
-- index: dex_trades_pkey, transactions_pkey, dexes_pkey, blocks_pkey
WITH span AS (
    SELECT first, last
    FROM (SELECT dex_trades_before AS first FROM blocks WHERE number >= %(block_from)s
            ORDER BY number ASC LIMIT 1) AS oldest,
        (SELECT dex_trades_before + dex_trade_count - 1 AS last FROM blocks
            WHERE number <= %(block_to)s ORDER BY number DESC LIMIT 1) AS newest
), window_ AS (
    SELECT
        CASE WHEN %(direction)s = 'asc' THEN first + skip
            ELSE greatest(last - skip - (%(limit)s - 1), first) END AS lowest,
        CASE WHEN %(direction)s = 'asc' THEN least(first + skip + (%(limit)s - 1), last)
            ELSE last - skip END AS highest
    FROM (SELECT first, last, least(%(offset)s, greatest(last - first + 1, 0)) AS skip FROM span)
)
SELECT coalesce(json_agg((
        SELECT dex_trade_record(page.d,
            (SELECT t.hash FROM transactions t
                WHERE t.ordinal = b.transactions_before + (page.d).transaction_index),
            (SELECT x.name FROM dexes x WHERE x.dex_id = (page.d).dex_id),
            b.timestamp)
        FROM blocks b
        WHERE b.number = (page.d).block_number)), '[]')::text,
    count(page.d),
    coalesce((SELECT greatest(last - first + 1, 0) FROM span), 0)
FROM (
    SELECT d
    FROM dex_trades d
    WHERE d.ordinal BETWEEN (SELECT lowest FROM window_) AND (SELECT highest FROM window_)
    ORDER BY CASE WHEN %(direction)s = 'asc' THEN d.ordinal END ASC,
        CASE WHEN %(direction)s = 'desc' THEN d.ordinal END DESC
    LIMIT %(limit)s
) AS page;
