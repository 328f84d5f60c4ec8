-- DEX trades by maker, by exchange, or by both.
-- A filter by one key alone starts at the checkpoint of `list` and `key` that is nearest to offset;
-- other combinations pass list as null and take the narrowest index.
-- params: maker bytea null, dex text null, block_from bigint, block_to bigint,
--   list text null, key bytea null, direction text, limit integer, offset bigint
-- returns: one row: data (JSON text), count in data, total of the list where list is given
-- index: dex_trades_by_maker, dex_trades_by_dex, list_checkpoints_pkey,
--   transactions_pkey, dexes_pkey, blocks_pkey
WITH entries AS (
    SELECT trade_count AS total FROM addresses
    WHERE address = %(key)s AND %(list)s = 'dex_trades_by_maker'
    UNION ALL
    SELECT trade_count FROM dexes WHERE name = %(dex)s AND %(list)s = 'dex_trades_by_dex'
), start AS (
    SELECT s.*
    FROM entries, list_start(%(list)s, %(key)s, entries.total, %(offset)s, %(direction)s) AS s
)
SELECT coalesce(json_agg(dex_trade_record(page.d,
        (SELECT t.hash FROM transactions t WHERE t.block_number = (page.d).block_number
            AND t.transaction_index = (page.d).transaction_index),
        (SELECT x.name FROM dexes x WHERE x.dex_id = (page.d).dex_id),
        (SELECT b.timestamp FROM blocks b WHERE b.number = (page.d).block_number))), '[]')::text,
    count(page.d),
    coalesce((SELECT total FROM entries), 0)
FROM (
    SELECT d
    FROM dex_trades d
    WHERE (%(maker)s::bytea IS NULL OR d.maker = %(maker)s)
        AND (%(dex)s::text IS NULL
            OR d.dex_id = (SELECT x.dex_id FROM dexes x WHERE x.name = %(dex)s))
        AND d.block_number >= %(block_from)s AND d.block_number <= %(block_to)s
        AND (%(direction)s <> 'desc' OR (d.block_number, d.log_index)
            <= (coalesce((SELECT block_number FROM start), 9223372036854775807), coalesce((SELECT position_ FROM start), 2147483647)))
        AND (%(direction)s <> 'asc' OR (d.block_number, d.log_index)
            >= (coalesce((SELECT block_number FROM start), -1), coalesce((SELECT position_ FROM start), -1)))
    ORDER BY
        CASE WHEN %(direction)s = 'asc' THEN d.block_number END ASC,
        CASE WHEN %(direction)s = 'asc' THEN d.log_index END ASC,
        CASE WHEN %(direction)s = 'desc' THEN d.block_number END DESC,
        CASE WHEN %(direction)s = 'desc' THEN d.log_index END DESC
    LIMIT %(limit)s
    OFFSET coalesce((SELECT pass FROM start), %(offset)s)
) AS page;
