-- Token transfers by sender, recipient or token, alone or together.
-- Places are counted on the index alone, then the page's rows are fetched. A filter by one key
-- starts at the checkpoint of `list` and `key` nearest to offset; other combinations pass list as
-- null and count from their end. The planner takes a range between two numbers that it does not
-- know for 0.5 % of a table: an end that bounds nothing is left out, and the upper one is compared
-- as a row, which the planner does not pair with the lower.
-- params: from bytea null, to bytea null, token bytea null, block_from bigint, block_to bigint,
--   list text null, key bytea null, direction text, limit integer, offset bigint
-- plan depends on: direction, limit, list
-- returns: one row: data (JSON text), count in data, total of the list where list is given
-- index: token_transfers_by_from, token_transfers_by_to, token_transfers_to_self,
--   token_transfers_by_token, list_checkpoints_pkey, token_transfers_pkey, transactions_pkey,
--   tokens_pkey, blocks_pkey
WITH entries AS (
    SELECT CASE %(list)s WHEN 'token_transfers_by_from' THEN transfer_sent_count
        WHEN 'token_transfers_by_to' THEN transfer_received_count END AS total
    FROM addresses WHERE address = %(key)s AND %(list)s <> 'token_transfers_by_token'
    UNION ALL
    SELECT transfer_count FROM tokens
    WHERE address = %(key)s AND %(list)s = 'token_transfers_by_token'
), span AS (
    SELECT first, last
    FROM (SELECT token_transfers_before AS first FROM blocks WHERE number >= %(block_from)s
            ORDER BY number ASC LIMIT 1) AS oldest,
        (SELECT token_transfers_before + token_transfer_count - 1 AS last FROM blocks
            WHERE number <= %(block_to)s ORDER BY number DESC LIMIT 1) AS newest
), bound AS (
    SELECT s.ordinal, s.pass
    FROM entries, list_start(%(list)s, %(key)s, entries.total, %(offset)s, %(direction)s) AS s
    UNION ALL
    SELECT CASE WHEN %(direction)s = 'asc' THEN 0 ELSE 9223372036854775807 END, %(offset)s
    LIMIT 1
), page AS (
    SELECT ordinal
    FROM (
        (
            SELECT x.ordinal
            FROM token_transfers x
            WHERE (%(to)s::bytea IS NULL
                    OR (x.to_address = %(to)s AND x.to_address <> x.from_address))
                AND (%(from)s::bytea IS NULL OR x.from_address = %(from)s)
                AND (%(token)s::bytea IS NULL OR x.token_address = %(token)s)
                AND (%(list)s IS NULL OR %(direction)s <> 'asc'
                    OR x.ordinal >= (SELECT ordinal FROM bound))
                AND (%(list)s IS NULL OR %(direction)s <> 'desc'
                    OR x.ordinal <= (SELECT ordinal FROM bound))
                AND (%(block_from)s = 0 OR x.ordinal >= (SELECT first FROM span))
                AND (%(block_to)s = 9223372036854775807
                    OR (x.ordinal, x.ordinal) <= (SELECT last, last FROM span))
            ORDER BY CASE WHEN %(direction)s = 'asc' THEN x.ordinal END ASC,
                CASE WHEN %(direction)s = 'desc' THEN x.ordinal END DESC
            LIMIT CASE WHEN %(list)s IS NULL
                THEN least(%(offset)s, 9000000000000000000) + %(limit)s
                ELSE checkpoint_every() + 1 + %(limit)s END
        )
        UNION ALL
        (
            SELECT x.ordinal
            FROM token_transfers x
            WHERE x.to_address = %(to)s AND x.to_address IS NOT DISTINCT FROM x.from_address
                AND (%(from)s::bytea IS NULL OR x.from_address = %(from)s)
                AND (%(token)s::bytea IS NULL OR x.token_address = %(token)s)
                AND (%(list)s IS NULL OR %(direction)s <> 'asc'
                    OR x.ordinal >= (SELECT ordinal FROM bound))
                AND (%(list)s IS NULL OR %(direction)s <> 'desc'
                    OR x.ordinal <= (SELECT ordinal FROM bound))
                AND (%(block_from)s = 0 OR x.ordinal >= (SELECT first FROM span))
                AND (%(block_to)s = 9223372036854775807
                    OR (x.ordinal, x.ordinal) <= (SELECT last, last FROM span))
            ORDER BY CASE WHEN %(direction)s = 'asc' THEN x.ordinal END ASC,
                CASE WHEN %(direction)s = 'desc' THEN x.ordinal END DESC
            LIMIT CASE WHEN %(list)s IS NULL
                THEN least(%(offset)s, 9000000000000000000) + %(limit)s
                ELSE checkpoint_every() + 1 + %(limit)s END
        )
    ) AS places
    ORDER BY CASE WHEN %(direction)s = 'asc' THEN ordinal END ASC,
        CASE WHEN %(direction)s = 'desc' THEN ordinal END DESC
    LIMIT %(limit)s
    OFFSET (SELECT pass FROM bound)
)
SELECT coalesce(json_agg((
        SELECT token_transfer_record(x,
            (SELECT t.hash FROM transactions t
                WHERE t.ordinal = b.transactions_before + x.transaction_index),
            (SELECT k.type FROM tokens k WHERE k.address = x.token_address),
            b.timestamp)
        FROM token_transfers x
        JOIN blocks b ON b.number = x.block_number
        WHERE x.ordinal = page.ordinal)), '[]')::text,
    count(*),
    coalesce((SELECT total FROM entries), 0)
FROM page;
