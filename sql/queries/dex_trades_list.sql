-- DEX trades of a range of blocks, at any depth: a page is a range of ordinals.
-- params: block_from bigint, block_to bigint, direction text, limit integer, offset bigint,
--   after bigint null, seen_block bigint null
-- literals: direction
-- returns: one row: index version, data (JSON text), count in data, total in the range; for
--   cursors: ordinal of the last row where more follow, newest block of the rows, block seen
-- index: dex_trades_pkey, transactions_pkey, dexes_pkey, tokens_pkey, blocks_pkey
WITH ordinals AS (
    SELECT first, last FROM dex_trade_ordinals(%(block_from)s, %(block_to)s)
), bounds AS (
    SELECT p.lowest, p.highest, p.next
    FROM ordinals,
        page_of_range(ordinals.first, ordinals.last, %(offset)s, %(after)s, %(limit)s,
            %(direction)s) AS p
)
SELECT index_version(),
    json_list(string_agg(
        (SELECT dex_trade_record(page.d,
            (SELECT t.hash FROM transactions t
                WHERE t.ordinal = b.transactions_before + (page.d).transaction_index),
            (SELECT x.name FROM dexes x WHERE x.dex_id = (page.d).dex_id),
            b.timestamp, i, o)::text
        FROM blocks b
        LEFT JOIN tokens i ON i.address = (page.d).token_in
        LEFT JOIN tokens o ON o.address = (page.d).token_out
        WHERE b.number = (page.d).block_number), ',')),
    count(page.d),
    coalesce((SELECT greatest(last - first + 1, 0) FROM ordinals), 0),
    (SELECT next FROM bounds),
    (SELECT block_reference(b) FROM blocks b WHERE b.number = max((page.d).block_number)),
    (SELECT block_reference(b) FROM blocks b WHERE b.number = %(seen_block)s)
FROM (
    SELECT d
    FROM dex_trades d
    WHERE d.ordinal BETWEEN (SELECT lowest FROM bounds) AND (SELECT highest FROM bounds)
    ORDER BY CASE WHEN %(direction)s = 'asc' THEN d.ordinal END ASC,
        CASE WHEN %(direction)s = 'desc' THEN d.ordinal END DESC
    LIMIT %(limit)s
) AS page;
