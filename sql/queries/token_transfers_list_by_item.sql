-- The transfers of one item of a token, newest first. See "Pages of the long lists" in schema.sql.
-- params: address bytea, token_id numeric, limit integer, offset bigint, after bigint null,
--   seen_block bigint null
-- literals: limit
-- returns: one row: index version, data (JSON text), count in data, total (null where the item
--   was never moved), type (null where there is no such token); for cursors: ordinal of the last
--   row where more follow, newest block of the rows, block seen
-- index: tokens_pkey, token_transfers_by_item, token_items_pkey, list_checkpoints_pkey,
--   token_transfers_pkey, transactions_pkey, blocks_pkey
WITH token AS (
    SELECT k.type FROM tokens k WHERE k.address = %(address)s
), item AS (
    SELECT i.transfer_count AS total
    FROM token_items i
    WHERE i.token_address = %(address)s AND i.first_ordinal = (
        SELECT min(x.ordinal) FROM token_transfers x
        WHERE x.token_address = %(address)s AND x.token_id = %(token_id)s)
), start AS (
    SELECT s.ordinal, s.pass
    FROM item, list_start('token_transfers_by_item', item_key(%(address)s, %(token_id)s),
        item.total, %(offset)s, 'desc') AS s
    WHERE %(after)s IS NULL
    UNION ALL
    SELECT %(after)s - 1, 0
    WHERE %(after)s IS NOT NULL
), page AS (
    SELECT x.ordinal
    FROM token_transfers x
    WHERE x.token_address = %(address)s AND x.token_id = %(token_id)s
        AND x.ordinal <= (SELECT ordinal FROM start)
    ORDER BY x.ordinal DESC
    LIMIT %(limit)s
    OFFSET (SELECT pass FROM start)
)
SELECT index_version(),
    json_list(string_agg(
        (SELECT token_transfer_record(x,
            (SELECT t.hash FROM transactions t
                WHERE t.ordinal = b.transactions_before + x.transaction_index),
            k,
            b.timestamp)::text
        FROM token_transfers x
        JOIN blocks b ON b.number = x.block_number
        JOIN tokens k ON k.address = x.token_address
        WHERE x.ordinal = page.ordinal), ',')),
    count(*),
    (SELECT total FROM item),
    (SELECT type FROM token),
    CASE WHEN EXISTS (
            SELECT FROM token_transfers x
            WHERE x.token_address = %(address)s AND x.token_id = %(token_id)s
                AND x.ordinal < min(page.ordinal))
        THEN min(page.ordinal) END,
    (SELECT block_reference(b)
    FROM token_transfers x
    JOIN blocks b ON b.number = x.block_number
    WHERE x.ordinal = max(page.ordinal)),
    (SELECT block_reference(b) FROM blocks b WHERE b.number = %(seen_block)s)
FROM page;
