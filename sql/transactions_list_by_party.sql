-- Transactions by sender, by recipient, or by both.
-- A filter by one key alone starts at the checkpoint of `list` and `key` that is nearest to offset;
-- other combinations pass list as null and take the narrowest index.
-- params: from bytea null, to bytea null, block_from bigint, block_to bigint,
--   list text null, key bytea null, direction text, limit integer, offset bigint
-- returns: one row: data (JSON text), count in data, total of the list where list is given
-- index: transactions_by_from, transactions_by_to, list_checkpoints_pkey,
--   blocks_pkey
WITH entries AS (
    SELECT CASE %(list)s WHEN 'transactions_by_from' THEN sent_count
        WHEN 'transactions_by_to' THEN received_count END AS total
    FROM addresses WHERE address = %(key)s
), start AS (
    SELECT s.*
    FROM entries, list_start(%(list)s, %(key)s, entries.total, %(offset)s, %(direction)s) AS s
)
SELECT coalesce(json_agg(transaction_record(page.t,
        (SELECT b.timestamp FROM blocks b WHERE b.number = (page.t).block_number))), '[]')::text,
    count(page.t),
    coalesce((SELECT total FROM entries), 0)
FROM (
    SELECT t
    FROM transactions t
    WHERE (%(from)s::bytea IS NULL OR t.from_address = %(from)s)
        AND (%(to)s::bytea IS NULL OR t.to_address = %(to)s)
        AND t.block_number >= %(block_from)s AND t.block_number <= %(block_to)s
        AND (%(direction)s <> 'desc' OR (t.block_number, t.transaction_index)
            <= (coalesce((SELECT block_number FROM start), 9223372036854775807), coalesce((SELECT position_ FROM start), 2147483647)))
        AND (%(direction)s <> 'asc' OR (t.block_number, t.transaction_index)
            >= (coalesce((SELECT block_number FROM start), -1), coalesce((SELECT position_ FROM start), -1)))
    ORDER BY
        CASE WHEN %(direction)s = 'asc' THEN t.block_number END ASC,
        CASE WHEN %(direction)s = 'asc' THEN t.transaction_index END ASC,
        CASE WHEN %(direction)s = 'desc' THEN t.block_number END DESC,
        CASE WHEN %(direction)s = 'desc' THEN t.transaction_index END DESC
    LIMIT %(limit)s
    OFFSET coalesce((SELECT pass FROM start), %(offset)s)
) AS page;
