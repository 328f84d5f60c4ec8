-- Transactions of a range of blocks, at any depth: a page is a range of ordinals.
-- params: form text, block_from bigint, block_to bigint, direction text, limit integer,
--   offset bigint, after bigint null, seen_block bigint null
-- literals: form, direction
-- returns: one row: index version, data (JSON text), count in data, total in the range; for
--   cursors: ordinal of the last row where more follow, newest block of the rows, block seen
-- index: transactions_pkey, blocks_pkey
WITH ordinals AS (
    SELECT first, last FROM transaction_ordinals(%(block_from)s, %(block_to)s)
), bounds AS (
    SELECT p.lowest, p.highest, p.next
    FROM ordinals,
        page_of_range(ordinals.first, ordinals.last, %(offset)s, %(after)s, %(limit)s,
            %(direction)s) AS p
)
SELECT index_version(),
    json_list(string_agg(page.record, ',')),
    count(*),
    coalesce((SELECT greatest(last - first + 1, 0) FROM ordinals), 0),
    (SELECT next FROM bounds),
    (SELECT block_reference(b) FROM blocks b WHERE b.number = max(page.block_number)),
    (SELECT block_reference(b) FROM blocks b WHERE b.number = %(seen_block)s)
FROM (
    SELECT (
        SELECT CASE %(form)s
            WHEN 'etherscan' THEN etherscan_transaction_record(
                t, b, (SELECT max(newest.number) FROM blocks newest))::text
            ELSE transaction_record(t, b) END
        FROM blocks b
        WHERE b.number = t.block_number) AS record, t.block_number
    FROM transactions t
    WHERE t.ordinal BETWEEN (SELECT lowest FROM bounds) AND (SELECT highest FROM bounds)
    ORDER BY CASE WHEN %(direction)s = 'asc' THEN t.ordinal END ASC,
        CASE WHEN %(direction)s = 'desc' THEN t.ordinal END DESC
    LIMIT %(limit)s
) AS page;
