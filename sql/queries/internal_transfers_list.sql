-- Internal transfers of a range of blocks, at any depth: a page is a range of ordinals.
-- params: form text, block_from bigint, block_to bigint, direction text, limit integer,
--   offset bigint, after bigint null, seen_block bigint null
-- literals: form, direction
-- returns: one row: index version, data (JSON text), count in data, total in the range; for
--   cursors: ordinal of the last row where more follow, newest block of the rows, block seen;
--   blocks that lack traces (null: none has any)
-- index: internal_transfers_pkey, transactions_pkey, blocks_pkey
WITH ordinals AS (
    SELECT first, last FROM internal_transfer_ordinals(%(block_from)s, %(block_to)s)
), bounds AS (
    SELECT p.lowest, p.highest, p.next
    FROM ordinals,
        page_of_range(ordinals.first, ordinals.last, %(offset)s, %(after)s, %(limit)s,
            %(direction)s) AS p
)
SELECT index_version(),
    json_list(string_agg(
        (SELECT CASE %(form)s
            WHEN 'etherscan' THEN etherscan_internal_transfer_record(page.i, t.hash, b.timestamp)
            ELSE internal_transfer_record(page.i, t.hash, b.timestamp) END::text
        FROM blocks b
        JOIN transactions t ON t.ordinal = b.transactions_before + (page.i).transaction_index
        WHERE b.number = (page.i).block_number), ',')),
    count(page.i),
    coalesce((SELECT greatest(last - first + 1, 0) FROM ordinals), 0),
    (SELECT next FROM bounds),
    (SELECT block_reference(b) FROM blocks b WHERE b.number = max((page.i).block_number)),
    (SELECT block_reference(b) FROM blocks b WHERE b.number = %(seen_block)s),
    untraced_blocks()
FROM (
    SELECT i
    FROM internal_transfers i
    WHERE i.ordinal BETWEEN (SELECT lowest FROM bounds) AND (SELECT highest FROM bounds)
    ORDER BY CASE WHEN %(direction)s = 'asc' THEN i.ordinal END ASC,
        CASE WHEN %(direction)s = 'desc' THEN i.ordinal END DESC
    LIMIT %(limit)s
) AS page;
