-- Transactions by sender, by recipient, or by both.
-- Places are counted on the index alone, then the page's rows are fetched. A filter by one key
-- starts at the checkpoint of `list` and `key` nearest to offset; other combinations pass list as
-- null and count from their end.
-- params: from bytea null, to bytea null, block_from bigint, block_to bigint,
--   list text null, key bytea null, direction text, limit integer, offset bigint
-- plan depends on: direction, limit, list
-- returns: one row: data (JSON text), count in data, total of the list where list is given
-- index: transactions_by_from, transactions_by_to, transactions_to_self, list_checkpoints_pkey,
--   transactions_pkey, blocks_pkey
WITH entries AS (
    SELECT CASE %(list)s WHEN 'transactions_by_from' THEN sent_count
        WHEN 'transactions_by_to' THEN received_count END AS total
    FROM addresses WHERE address = %(key)s
), start AS (
    SELECT s.block_number, s.position_ AS position, s.batch_index, s.pass
    FROM entries, list_start(%(list)s, %(key)s, entries.total, %(offset)s, %(direction)s) AS s
), bound AS (
    SELECT * FROM start
    UNION ALL
    SELECT CASE WHEN %(direction)s = 'desc' THEN %(block_to)s ELSE %(block_from)s END,
        CASE WHEN %(direction)s = 'desc' THEN 2147483647 ELSE -1 END,
        CASE WHEN %(direction)s = 'desc' THEN 2147483647 ELSE -1 END,
        %(offset)s
    LIMIT 1
), page AS (
    SELECT block_number, transaction_index
    FROM (
        (
            SELECT t.block_number, t.transaction_index
            FROM transactions t
            WHERE (%(to)s::bytea IS NULL
                    OR (t.to_address = %(to)s AND t.to_address <> t.from_address))
                AND (%(from)s::bytea IS NULL OR t.from_address = %(from)s)
                AND (%(direction)s <> 'desc' OR (
                    (t.block_number, t.transaction_index)
                        <= (SELECT block_number, position FROM bound)
                    AND t.block_number >= %(block_from)s))
                AND (%(direction)s <> 'asc' OR (
                    (t.block_number, t.transaction_index)
                        >= (SELECT block_number, position FROM bound)
                    AND t.block_number <= %(block_to)s))
            ORDER BY
                CASE WHEN %(direction)s = 'asc' THEN t.block_number END ASC,
                CASE WHEN %(direction)s = 'asc' THEN t.transaction_index END ASC,
                CASE WHEN %(direction)s = 'desc' THEN t.block_number END DESC,
                CASE WHEN %(direction)s = 'desc' THEN t.transaction_index END DESC
            LIMIT CASE WHEN %(list)s IS NULL
                THEN least(%(offset)s, 9000000000000000000) + %(limit)s
                ELSE checkpoint_every() + 1 + %(limit)s END
        )
        UNION ALL
        (
            SELECT t.block_number, t.transaction_index
            FROM transactions t
            WHERE t.to_address = %(to)s AND t.to_address IS NOT DISTINCT FROM t.from_address
                AND (%(from)s::bytea IS NULL OR t.from_address = %(from)s)
                AND (%(direction)s <> 'desc' OR (
                    (t.block_number, t.transaction_index)
                        <= (SELECT block_number, position FROM bound)
                    AND t.block_number >= %(block_from)s))
                AND (%(direction)s <> 'asc' OR (
                    (t.block_number, t.transaction_index)
                        >= (SELECT block_number, position FROM bound)
                    AND t.block_number <= %(block_to)s))
            ORDER BY
                CASE WHEN %(direction)s = 'asc' THEN t.block_number END ASC,
                CASE WHEN %(direction)s = 'asc' THEN t.transaction_index END ASC,
                CASE WHEN %(direction)s = 'desc' THEN t.block_number END DESC,
                CASE WHEN %(direction)s = 'desc' THEN t.transaction_index END DESC
            LIMIT CASE WHEN %(list)s IS NULL
                THEN least(%(offset)s, 9000000000000000000) + %(limit)s
                ELSE checkpoint_every() + 1 + %(limit)s END
        )
    ) AS places
    ORDER BY
        CASE WHEN %(direction)s = 'asc' THEN block_number END ASC,
        CASE WHEN %(direction)s = 'asc' THEN transaction_index END ASC,
        CASE WHEN %(direction)s = 'desc' THEN block_number END DESC,
        CASE WHEN %(direction)s = 'desc' THEN transaction_index END DESC
    LIMIT %(limit)s
    OFFSET (SELECT pass FROM bound)
)
SELECT coalesce(json_agg((
        SELECT transaction_record(t,
            (SELECT b.timestamp FROM blocks b WHERE b.number = t.block_number))
        FROM transactions t
        WHERE t.block_number = page.block_number
            AND t.transaction_index = page.transaction_index)), '[]')::text,
    count(*),
    coalesce((SELECT total FROM entries), 0)
FROM page;
