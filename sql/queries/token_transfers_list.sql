-- Token transfers of a range of blocks, at any depth: a page is a range of ordinals.
-- params: form text, block_from bigint, block_to bigint, direction text, limit integer,
--   offset bigint, after bigint null, seen_block bigint null
-- literals: form, direction
-- returns: one row: index version, data (JSON text), count in data, total in the range; for
--   cursors: ordinal of the last row where more follow, newest block of the rows, block seen
-- index: token_transfers_pkey, transactions_pkey, tokens_pkey, blocks_pkey
WITH ordinals AS (
    SELECT first, last FROM token_transfer_ordinals(%(block_from)s, %(block_to)s)
), bounds AS (
    SELECT p.lowest, p.highest, p.next
    FROM ordinals,
        page_of_range(ordinals.first, ordinals.last, %(offset)s, %(after)s, %(limit)s,
            %(direction)s) AS p
)
SELECT index_version(),
    json_list(string_agg(
        (SELECT CASE %(form)s
            WHEN 'etherscan' THEN (
                SELECT etherscan_token_transfer_record(
                    page.x, t, b, k, (SELECT max(newest.number) FROM blocks newest))::text
                FROM transactions t
                WHERE t.ordinal = b.transactions_before + (page.x).transaction_index)
            ELSE token_transfer_record(page.x,
                (SELECT t.hash FROM transactions t
                    WHERE t.ordinal = b.transactions_before + (page.x).transaction_index),
                k,
                b.timestamp)::text END
        FROM blocks b, tokens k
        WHERE b.number = (page.x).block_number AND k.address = (page.x).token_address), ',')),
    count(page.x),
    coalesce((SELECT greatest(last - first + 1, 0) FROM ordinals), 0),
    (SELECT next FROM bounds),
    (SELECT block_reference(b) FROM blocks b WHERE b.number = max((page.x).block_number)),
    (SELECT block_reference(b) FROM blocks b WHERE b.number = %(seen_block)s)
FROM (
    SELECT x
    FROM token_transfers x
    WHERE x.ordinal BETWEEN (SELECT lowest FROM bounds) AND (SELECT highest FROM bounds)
    ORDER BY CASE WHEN %(direction)s = 'asc' THEN x.ordinal END ASC,
        CASE WHEN %(direction)s = 'desc' THEN x.ordinal END DESC
    LIMIT %(limit)s
) AS page;
