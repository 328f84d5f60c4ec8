-- DEX trades of a range of blocks, at any depth: offset to ordinal to block to rows.
-- params: block_from bigint, block_to bigint, direction text, limit integer, offset bigint
-- plan depends on: direction, limit
-- returns: one row: data (JSON text), count in data, total in the range
-- index: dex_trades_pkey, blocks_dex_trades_before, transactions_pkey, dexes_pkey, blocks_pkey
WITH bounds AS (
    SELECT
        (SELECT b.dex_trades_before FROM blocks b WHERE b.number >= %(block_from)s
            ORDER BY b.number ASC LIMIT 1) AS first,
        (SELECT b.dex_trades_before + b.dex_trade_count FROM blocks b
            WHERE b.number <= %(block_to)s ORDER BY b.number DESC LIMIT 1) AS after_last
), target AS (
    SELECT CASE WHEN %(direction)s = 'asc' THEN first + %(offset)s::numeric
        ELSE after_last - 1 - %(offset)s::numeric END AS ordinal
    FROM bounds
), start AS (
    SELECT b.number, (target.ordinal - b.dex_trades_before)::integer AS skip
    FROM bounds, target
    CROSS JOIN LATERAL (
        SELECT c.number, c.dex_trades_before
        FROM blocks c
        WHERE c.dex_trades_before <= least(target.ordinal, 9223372036854775807)::bigint
        ORDER BY c.dex_trades_before DESC, c.number DESC
        LIMIT 1
    ) AS b
    WHERE target.ordinal >= bounds.first AND target.ordinal < bounds.after_last
)
SELECT coalesce(json_agg(dex_trade_record(page.d,
        (SELECT t.hash FROM transactions t WHERE t.block_number = (page.d).block_number
            AND t.transaction_index = (page.d).transaction_index),
        (SELECT x.name FROM dexes x WHERE x.dex_id = (page.d).dex_id),
        (SELECT b.timestamp FROM blocks b WHERE b.number = (page.d).block_number))), '[]')::text,
    count(page.d),
    (SELECT coalesce(greatest(after_last - first, 0), 0) FROM bounds)
FROM (
    SELECT d
    FROM dex_trades d
    WHERE d.block_number >= %(block_from)s AND d.block_number <= %(block_to)s
        AND (%(direction)s <> 'desc' OR d.block_number <= (SELECT number FROM start))
        AND (%(direction)s <> 'asc' OR d.block_number >= (SELECT number FROM start))
    ORDER BY
        CASE WHEN %(direction)s = 'asc' THEN d.block_number END ASC,
        CASE WHEN %(direction)s = 'asc' THEN d.log_index END ASC,
        CASE WHEN %(direction)s = 'desc' THEN d.block_number END DESC,
        CASE WHEN %(direction)s = 'desc' THEN d.log_index END DESC
    LIMIT %(limit)s
    OFFSET (SELECT CASE WHEN %(direction)s = 'asc' THEN skip
        ELSE (SELECT c.dex_trade_count FROM blocks c WHERE c.number = start.number) - 1 - skip
        END FROM start)
) AS page;
