-- Transactions by sender, by recipient, or by both.
-- Places are counted on the index alone, then the page's rows are fetched. A filter by one key
-- starts at the checkpoint of `list` and `key` nearest to offset; other combinations pass list as
-- null and count from their end. The planner takes a range between two numbers that it does not
-- know for 0.5 % of a table: an end that bounds nothing is left out, and the upper one is compared
-- as a row, which the planner does not pair with the lower.
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
), span AS (
    SELECT first, last
    FROM (SELECT transactions_before AS first FROM blocks WHERE number >= %(block_from)s
            ORDER BY number ASC LIMIT 1) AS oldest,
        (SELECT transactions_before + transaction_count - 1 AS last FROM blocks
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
            SELECT t.ordinal
            FROM transactions t
            WHERE (%(to)s::bytea IS NULL
                    OR (t.to_address = %(to)s AND t.to_address <> t.from_address))
                AND (%(from)s::bytea IS NULL OR t.from_address = %(from)s)
                AND (%(list)s IS NULL OR %(direction)s <> 'asc'
                    OR t.ordinal >= (SELECT ordinal FROM bound))
                AND (%(list)s IS NULL OR %(direction)s <> 'desc'
                    OR t.ordinal <= (SELECT ordinal FROM bound))
                AND (%(block_from)s = 0 OR t.ordinal >= (SELECT first FROM span))
                AND (%(block_to)s = 9223372036854775807
                    OR (t.ordinal, t.ordinal) <= (SELECT last, last FROM span))
            ORDER BY CASE WHEN %(direction)s = 'asc' THEN t.ordinal END ASC,
                CASE WHEN %(direction)s = 'desc' THEN t.ordinal END DESC
            LIMIT CASE WHEN %(list)s IS NULL
                THEN least(%(offset)s, 9000000000000000000) + %(limit)s
                ELSE checkpoint_every() + 1 + %(limit)s END
        )
        UNION ALL
        (
            SELECT t.ordinal
            FROM transactions t
            WHERE t.to_address = %(to)s AND t.to_address IS NOT DISTINCT FROM t.from_address
                AND (%(from)s::bytea IS NULL OR t.from_address = %(from)s)
                AND (%(list)s IS NULL OR %(direction)s <> 'asc'
                    OR t.ordinal >= (SELECT ordinal FROM bound))
                AND (%(list)s IS NULL OR %(direction)s <> 'desc'
                    OR t.ordinal <= (SELECT ordinal FROM bound))
                AND (%(block_from)s = 0 OR t.ordinal >= (SELECT first FROM span))
                AND (%(block_to)s = 9223372036854775807
                    OR (t.ordinal, t.ordinal) <= (SELECT last, last FROM span))
            ORDER BY CASE WHEN %(direction)s = 'asc' THEN t.ordinal END ASC,
                CASE WHEN %(direction)s = 'desc' THEN t.ordinal END DESC
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
        SELECT transaction_record(t,
            (SELECT b.timestamp FROM blocks b WHERE b.number = t.block_number))
        FROM transactions t
        WHERE t.ordinal = page.ordinal)), '[]')::text,
    count(*),
    coalesce((SELECT total FROM entries), 0)
FROM page;
