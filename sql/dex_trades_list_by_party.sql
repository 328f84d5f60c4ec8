-- DEX trades by maker, by exchange, or by both.
-- Places are counted on the index alone, then the page's rows are fetched. A filter by one key
-- starts at the checkpoint of `list` and `key` nearest to offset; other combinations pass list as
-- null and count from their end.
-- params: maker bytea null, dex text null, block_from bigint, block_to bigint,
--   list text null, key bytea null, direction text, limit integer, offset bigint
-- plan depends on: direction, limit, list
-- returns: one row: data (JSON text), count in data, total of the list where list is given
-- index: dex_trades_by_maker, dex_trades_by_dex, list_checkpoints_pkey,
--   dex_trades_pkey, transactions_pkey, dexes_pkey,
--   blocks_pkey
WITH entries AS (
    SELECT trade_count AS total FROM addresses
    WHERE address = %(key)s AND %(list)s = 'dex_trades_by_maker'
    UNION ALL
    SELECT trade_count FROM dexes WHERE name = %(dex)s AND %(list)s = 'dex_trades_by_dex'
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
    SELECT block_number, log_index
    FROM (
        SELECT d.block_number, d.log_index
        FROM dex_trades d
        WHERE (%(maker)s::bytea IS NULL OR d.maker = %(maker)s)
            AND (%(dex)s::text IS NULL
                OR d.dex_id = (SELECT x.dex_id FROM dexes x WHERE x.name = %(dex)s))
            AND (%(direction)s <> 'desc' OR (
                (d.block_number, d.log_index)
                    <= (SELECT block_number, position FROM bound)
                AND d.block_number >= %(block_from)s))
            AND (%(direction)s <> 'asc' OR (
                (d.block_number, d.log_index)
                    >= (SELECT block_number, position FROM bound)
                AND d.block_number <= %(block_to)s))
        ORDER BY
            CASE WHEN %(direction)s = 'asc' THEN d.block_number END ASC,
            CASE WHEN %(direction)s = 'asc' THEN d.log_index END ASC,
            CASE WHEN %(direction)s = 'desc' THEN d.block_number END DESC,
            CASE WHEN %(direction)s = 'desc' THEN d.log_index END DESC
        LIMIT CASE WHEN %(list)s IS NULL
            THEN least(%(offset)s, 9000000000000000000) + %(limit)s
            ELSE checkpoint_every() + 1 + %(limit)s END
    ) AS places
    ORDER BY
        CASE WHEN %(direction)s = 'asc' THEN block_number END ASC,
        CASE WHEN %(direction)s = 'asc' THEN log_index END ASC,
        CASE WHEN %(direction)s = 'desc' THEN block_number END DESC,
        CASE WHEN %(direction)s = 'desc' THEN log_index END DESC
    LIMIT %(limit)s
    OFFSET (SELECT pass FROM bound)
)
SELECT coalesce(json_agg((
        SELECT dex_trade_record(d,
            (SELECT t.hash FROM transactions t WHERE t.block_number = d.block_number
                AND t.transaction_index = d.transaction_index),
            (SELECT x.name FROM dexes x WHERE x.dex_id = d.dex_id),
            (SELECT b.timestamp FROM blocks b WHERE b.number = d.block_number))
        FROM dex_trades d
        WHERE d.block_number = page.block_number AND d.log_index = page.log_index)), '[]')::text,
    count(*),
    coalesce((SELECT total FROM entries), 0)
FROM page;
