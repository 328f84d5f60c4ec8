-- DEX trades by maker, by exchange, or by both.
-- Places are counted on the index alone, then the page's rows are fetched. A filter by one key
-- starts at the checkpoint of `list` and `key` nearest to offset; other combinations pass list as
-- null and count from their end. The planner takes a range between two numbers that it does not
-- know for 0.5 % of a table: an end that bounds nothing is left out, and the upper one is compared
-- as a row, which the planner does not pair with the lower.
-- params: maker bytea null, dex text null, block_from bigint, block_to bigint,
--   list text null, key bytea null, direction text, limit integer, offset bigint
-- plan depends on: direction, limit, list
-- returns: one row: data (JSON text), count in data, total of the list where list is given
-- index: dex_trades_by_maker, dex_trades_by_dex, list_checkpoints_pkey, dex_trades_pkey,
--   transactions_pkey, dexes_pkey, blocks_pkey
WITH entries AS (
    SELECT trade_count AS total FROM addresses
    WHERE address = %(key)s AND %(list)s = 'dex_trades_by_maker'
    UNION ALL
    SELECT trade_count FROM dexes WHERE name = %(dex)s AND %(list)s = 'dex_trades_by_dex'
), span AS (
    SELECT first, last
    FROM (SELECT dex_trades_before AS first FROM blocks WHERE number >= %(block_from)s
            ORDER BY number ASC LIMIT 1) AS oldest,
        (SELECT dex_trades_before + dex_trade_count - 1 AS last FROM blocks
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
        SELECT d.ordinal
        FROM dex_trades d
        WHERE (%(maker)s::bytea IS NULL OR d.maker = %(maker)s)
            AND (%(dex)s::text IS NULL
                OR d.dex_id = (SELECT x.dex_id FROM dexes x WHERE x.name = %(dex)s))
            AND (%(list)s IS NULL OR %(direction)s <> 'asc'
                OR d.ordinal >= (SELECT ordinal FROM bound))
            AND (%(list)s IS NULL OR %(direction)s <> 'desc'
                OR d.ordinal <= (SELECT ordinal FROM bound))
            AND (%(block_from)s = 0 OR d.ordinal >= (SELECT first FROM span))
            AND (%(block_to)s = 9223372036854775807
                OR (d.ordinal, d.ordinal) <= (SELECT last, last FROM span))
        ORDER BY CASE WHEN %(direction)s = 'asc' THEN d.ordinal END ASC,
            CASE WHEN %(direction)s = 'desc' THEN d.ordinal END DESC
        LIMIT CASE WHEN %(list)s IS NULL
            THEN least(%(offset)s, 9000000000000000000) + %(limit)s
            ELSE checkpoint_every() + 1 + %(limit)s END
    ) AS places
    ORDER BY CASE WHEN %(direction)s = 'asc' THEN ordinal END ASC,
        CASE WHEN %(direction)s = 'desc' THEN ordinal END DESC
    LIMIT %(limit)s
    OFFSET (SELECT pass FROM bound)
)
SELECT coalesce(json_agg((
        SELECT dex_trade_record(d,
            (SELECT t.hash FROM transactions t
                WHERE t.ordinal = b.transactions_before + d.transaction_index),
            (SELECT x.name FROM dexes x WHERE x.dex_id = d.dex_id),
            b.timestamp)
        FROM dex_trades d
        JOIN blocks b ON b.number = d.block_number
        WHERE d.ordinal = page.ordinal)), '[]')::text,
    count(*),
    coalesce((SELECT total FROM entries), 0)
FROM page;
