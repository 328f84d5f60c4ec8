-- The transfers of one item of a token, newest first. See "Pages of the long lists" in
-- sql/schema/lists.sql.
-- params: address bytea, token_id numeric, limit integer, offset bigint, after bigint null,
--   seen_block bigint null
-- literals: limit
-- returns: one row: index version, data (JSON text), count in data, total (null where the item
--   was never moved), type (null where there is no such token); for cursors: ordinal of the last
--   row where more follow, newest block of the rows, block seen
-- index: tokens_pkey, token_transfers_by_item, token_items_pkey, list_checkpoints_pkey,
--   token_transfers_pkey, transactions_pkey, blocks_pkey, kept_addresses_pkey
WITH token AS (
    SELECT moved_type(k, 0) AS type FROM tokens k WHERE k.address = %(address)s
), item AS (
    SELECT i.transfer_count AS total, removed.entries AS removed
    FROM token_items i
    -- Removed ones are counted as the difference between the place of the list's first kept checkpoint, or
    -- its whole length, and the number of kept transfers before that.
    CROSS JOIN LATERAL (
        SELECT CASE WHEN k.first > 0 THEN coalesce(c.place, i.transfer_count) - (
            SELECT count(*) FROM token_transfers x
            WHERE x.token_address = %(address)s AND x.token_id = %(token_id)s
                AND x.ordinal >= k.first AND x.ordinal < coalesce(c.ordinal, 9223372036854775807))
            ELSE 0 END AS entries
        FROM (SELECT first_kept_ordinal('token_transfers', %(address)s) AS first) AS k
        LEFT JOIN LATERAL (
            SELECT p.place, p.ordinal
            FROM list_checkpoints p
            WHERE p.list = 'token_transfers_by_item' AND p.key = item_key(%(address)s, %(token_id)s)
                AND p.ordinal >= k.first AND k.first > 0
            ORDER BY p.place
            LIMIT 1
        ) AS c ON true
    ) AS removed
    WHERE i.token_address = %(address)s AND i.first_ordinal
            = first_transfer_of(%(address)s, %(token_id)s)
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
        AND x.ordinal >= (SELECT first_kept_ordinal('token_transfers', %(address)s))
    ORDER BY x.ordinal DESC
    LIMIT %(limit)s
    OFFSET (SELECT pass FROM start)
)
SELECT index_version(),
    json_list(string_agg(
        (SELECT token_transfer_record(x,
            (SELECT t FROM transactions t
                WHERE t.ordinal = b.transactions_before + x.transaction_index),
            k,
            b.timestamp)::text
        FROM token_transfers x
        JOIN blocks b ON b.number = x.block_number
        JOIN tokens k ON k.address = x.token_address
        WHERE x.ordinal = page.ordinal), ',')),
    count(*),
    (SELECT total - removed FROM item),
    (SELECT type FROM token),
    CASE WHEN EXISTS (
            SELECT FROM token_transfers x
            WHERE x.token_address = %(address)s AND x.token_id = %(token_id)s
                AND x.ordinal < min(page.ordinal)
                AND x.ordinal >= (SELECT first_kept_ordinal('token_transfers', %(address)s)))
        THEN min(page.ordinal) END,
    (SELECT block_reference(b)
    FROM token_transfers x
    JOIN blocks b ON b.number = x.block_number
    WHERE x.ordinal = max(page.ordinal)),
    (SELECT block_reference(b) FROM blocks b WHERE b.number = %(seen_block)s)
FROM page;
