-- Transactions of a range of blocks, at any depth: offset to ordinal to block to rows.
-- params: block_from bigint, block_to bigint, direction text, limit integer, offset bigint
-- plan depends on: direction, limit
-- returns: one row: data (JSON text), count in data, total in the range
-- index: transactions_pkey, blocks_transactions_before, blocks_pkey
WITH bounds AS (
    SELECT
        (SELECT b.transactions_before FROM blocks b WHERE b.number >= %(block_from)s
            ORDER BY b.number ASC LIMIT 1) AS first,
        (SELECT b.transactions_before + b.transaction_count FROM blocks b
            WHERE b.number <= %(block_to)s ORDER BY b.number DESC LIMIT 1) AS after_last
), target AS (
    SELECT CASE WHEN %(direction)s = 'asc' THEN first + %(offset)s::numeric
        ELSE after_last - 1 - %(offset)s::numeric END AS ordinal
    FROM bounds
), start AS (
    SELECT b.number, (target.ordinal - b.transactions_before)::integer AS skip
    FROM bounds, target
    CROSS JOIN LATERAL (
        SELECT c.number, c.transactions_before
        FROM blocks c
        WHERE c.transactions_before <= least(target.ordinal, 9223372036854775807)::bigint
        ORDER BY c.transactions_before DESC, c.number DESC
        LIMIT 1
    ) AS b
    WHERE target.ordinal >= bounds.first AND target.ordinal < bounds.after_last
)
SELECT coalesce(json_agg(transaction_record(page.t,
        (SELECT b.timestamp FROM blocks b WHERE b.number = (page.t).block_number))), '[]')::text,
    count(page.t),
    (SELECT coalesce(greatest(after_last - first, 0), 0) FROM bounds)
FROM (
    SELECT t
    FROM transactions t
    WHERE t.block_number >= %(block_from)s AND t.block_number <= %(block_to)s
        AND (%(direction)s <> 'desc' OR t.block_number <= (SELECT number FROM start))
        AND (%(direction)s <> 'asc' OR t.block_number >= (SELECT number FROM start))
    ORDER BY
        CASE WHEN %(direction)s = 'asc' THEN t.block_number END ASC,
        CASE WHEN %(direction)s = 'asc' THEN t.transaction_index END ASC,
        CASE WHEN %(direction)s = 'desc' THEN t.block_number END DESC,
        CASE WHEN %(direction)s = 'desc' THEN t.transaction_index END DESC
    LIMIT %(limit)s
    OFFSET (SELECT CASE WHEN %(direction)s = 'asc' THEN skip
        ELSE (SELECT c.transaction_count FROM blocks c WHERE c.number = start.number) - 1 - skip
        END FROM start)
) AS page;
