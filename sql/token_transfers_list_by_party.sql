-- Token transfers by sender, recipient or token, alone or together.
-- Places are counted on the index alone, then the page's rows are fetched. A filter by one key
-- starts at the checkpoint of `list` and `key` nearest to offset; other combinations pass list as
-- null and count from their end.
-- params: from bytea null, to bytea null, token bytea null, block_from bigint, block_to bigint,
--   list text null, key bytea null, direction text, limit integer, offset bigint
-- plan depends on: direction, limit, list
-- returns: one row: data (JSON text), count in data, total of the list where list is given
-- index: token_transfers_by_from, token_transfers_by_to, token_transfers_to_self,
--   token_transfers_by_token, list_checkpoints_pkey,
--   token_transfers_pkey, transactions_pkey,
--   tokens_pkey, blocks_pkey
WITH entries AS (
    SELECT CASE %(list)s WHEN 'token_transfers_by_from' THEN transfer_sent_count
        WHEN 'token_transfers_by_to' THEN transfer_received_count END AS total
    FROM addresses WHERE address = %(key)s AND %(list)s <> 'token_transfers_by_token'
    UNION ALL
    SELECT transfer_count FROM tokens
    WHERE address = %(key)s AND %(list)s = 'token_transfers_by_token'
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
    SELECT block_number, log_index, batch_index
    FROM (
        (
            SELECT x.block_number, x.log_index, x.batch_index
            FROM token_transfers x
            WHERE (%(to)s::bytea IS NULL
                    OR (x.to_address = %(to)s AND x.to_address <> x.from_address))
                AND (%(from)s::bytea IS NULL OR x.from_address = %(from)s)
                AND (%(token)s::bytea IS NULL OR x.token_address = %(token)s)
                AND (%(direction)s <> 'desc' OR (
                    (x.block_number, x.log_index, x.batch_index)
                        <= (SELECT block_number, position, batch_index FROM bound)
                    AND x.block_number >= %(block_from)s))
                AND (%(direction)s <> 'asc' OR (
                    (x.block_number, x.log_index, x.batch_index)
                        >= (SELECT block_number, position, batch_index FROM bound)
                    AND x.block_number <= %(block_to)s))
            ORDER BY
                CASE WHEN %(direction)s = 'asc' THEN x.block_number END ASC,
                CASE WHEN %(direction)s = 'asc' THEN x.log_index END ASC,
                CASE WHEN %(direction)s = 'asc' THEN x.batch_index END ASC,
                CASE WHEN %(direction)s = 'desc' THEN x.block_number END DESC,
                CASE WHEN %(direction)s = 'desc' THEN x.log_index END DESC,
                CASE WHEN %(direction)s = 'desc' THEN x.batch_index END DESC
            LIMIT CASE WHEN %(list)s IS NULL
                THEN least(%(offset)s, 9000000000000000000) + %(limit)s
                ELSE checkpoint_every() + 1 + %(limit)s END
        )
        UNION ALL
        (
            SELECT x.block_number, x.log_index, x.batch_index
            FROM token_transfers x
            WHERE x.to_address = %(to)s AND x.to_address IS NOT DISTINCT FROM x.from_address
                AND (%(from)s::bytea IS NULL OR x.from_address = %(from)s)
                AND (%(token)s::bytea IS NULL OR x.token_address = %(token)s)
                AND (%(direction)s <> 'desc' OR (
                    (x.block_number, x.log_index, x.batch_index)
                        <= (SELECT block_number, position, batch_index FROM bound)
                    AND x.block_number >= %(block_from)s))
                AND (%(direction)s <> 'asc' OR (
                    (x.block_number, x.log_index, x.batch_index)
                        >= (SELECT block_number, position, batch_index FROM bound)
                    AND x.block_number <= %(block_to)s))
            ORDER BY
                CASE WHEN %(direction)s = 'asc' THEN x.block_number END ASC,
                CASE WHEN %(direction)s = 'asc' THEN x.log_index END ASC,
                CASE WHEN %(direction)s = 'asc' THEN x.batch_index END ASC,
                CASE WHEN %(direction)s = 'desc' THEN x.block_number END DESC,
                CASE WHEN %(direction)s = 'desc' THEN x.log_index END DESC,
                CASE WHEN %(direction)s = 'desc' THEN x.batch_index END DESC
            LIMIT CASE WHEN %(list)s IS NULL
                THEN least(%(offset)s, 9000000000000000000) + %(limit)s
                ELSE checkpoint_every() + 1 + %(limit)s END
        )
    ) AS places
    ORDER BY
        CASE WHEN %(direction)s = 'asc' THEN block_number END ASC,
        CASE WHEN %(direction)s = 'asc' THEN log_index END ASC,
        CASE WHEN %(direction)s = 'asc' THEN batch_index END ASC,
        CASE WHEN %(direction)s = 'desc' THEN block_number END DESC,
        CASE WHEN %(direction)s = 'desc' THEN log_index END DESC,
        CASE WHEN %(direction)s = 'desc' THEN batch_index END DESC
    LIMIT %(limit)s
    OFFSET (SELECT pass FROM bound)
)
SELECT coalesce(json_agg((
        SELECT token_transfer_record(x,
            (SELECT t.hash FROM transactions t WHERE t.block_number = x.block_number
                AND t.transaction_index = x.transaction_index),
            (SELECT k.type FROM tokens k WHERE k.address = x.token_address),
            (SELECT b.timestamp FROM blocks b WHERE b.number = x.block_number))
        FROM token_transfers x
        WHERE x.block_number = page.block_number AND x.log_index = page.log_index
            AND x.batch_index = page.batch_index)), '[]')::text,
    count(*),
    coalesce((SELECT total FROM entries), 0)
FROM page;
