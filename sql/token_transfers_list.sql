-- Token transfers of a range of blocks, at any depth: offset to ordinal to block to rows.
-- params: block_from bigint, block_to bigint, direction text, limit integer, offset bigint
-- plan depends on: direction, limit
-- returns: one row: data (JSON text), count in data, total in the range
-- index: token_transfers_pkey, blocks_token_transfers_before, transactions_pkey, tokens_pkey, blocks_pkey
WITH bounds AS (
    SELECT
        (SELECT b.token_transfers_before FROM blocks b WHERE b.number >= %(block_from)s
            ORDER BY b.number ASC LIMIT 1) AS first,
        (SELECT b.token_transfers_before + b.token_transfer_count FROM blocks b
            WHERE b.number <= %(block_to)s ORDER BY b.number DESC LIMIT 1) AS after_last
), target AS (
    SELECT CASE WHEN %(direction)s = 'asc' THEN first + %(offset)s::numeric
        ELSE after_last - 1 - %(offset)s::numeric END AS ordinal
    FROM bounds
), start AS (
    SELECT b.number, (target.ordinal - b.token_transfers_before)::integer AS skip
    FROM bounds, target
    CROSS JOIN LATERAL (
        SELECT c.number, c.token_transfers_before
        FROM blocks c
        WHERE c.token_transfers_before <= least(target.ordinal, 9223372036854775807)::bigint
        ORDER BY c.token_transfers_before DESC, c.number DESC
        LIMIT 1
    ) AS b
    WHERE target.ordinal >= bounds.first AND target.ordinal < bounds.after_last
)
SELECT coalesce(json_agg(token_transfer_record(page.x,
        (SELECT t.hash FROM transactions t WHERE t.block_number = (page.x).block_number
            AND t.transaction_index = (page.x).transaction_index),
        (SELECT k.type FROM tokens k WHERE k.address = (page.x).token_address),
        (SELECT b.timestamp FROM blocks b WHERE b.number = (page.x).block_number))), '[]')::text,
    count(page.x),
    (SELECT coalesce(greatest(after_last - first, 0), 0) FROM bounds)
FROM (
    SELECT x
    FROM token_transfers x
    WHERE x.block_number >= %(block_from)s AND x.block_number <= %(block_to)s
        AND (%(direction)s <> 'desc' OR x.block_number <= (SELECT number FROM start))
        AND (%(direction)s <> 'asc' OR x.block_number >= (SELECT number FROM start))
    ORDER BY
        CASE WHEN %(direction)s = 'asc' THEN x.block_number END ASC,
        CASE WHEN %(direction)s = 'asc' THEN x.log_index END ASC,
        CASE WHEN %(direction)s = 'asc' THEN x.batch_index END ASC,
        CASE WHEN %(direction)s = 'desc' THEN x.block_number END DESC,
        CASE WHEN %(direction)s = 'desc' THEN x.log_index END DESC,
        CASE WHEN %(direction)s = 'desc' THEN x.batch_index END DESC
    LIMIT %(limit)s
    OFFSET (SELECT CASE WHEN %(direction)s = 'asc' THEN skip
        ELSE (SELECT c.token_transfer_count FROM blocks c WHERE c.number = start.number) - 1 - skip
        END FROM start)
) AS page;
