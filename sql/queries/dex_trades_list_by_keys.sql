-- DEX trades by several of maker, exchange, pool and token, counted from their end.
-- They are read from the index of `list`, which leaves the least to filter; partitions outside of
-- `lowest` and `highest` are not opened: for these three see queries/lists_get_bounds.
-- params: list text, maker bytea null, dex text null, pool bytea null, token bytea null, block_from bigint,
--   block_to bigint, has_lower boolean, has_upper boolean, direction text, limit integer, offset bigint, after bigint null,
--   seen_block bigint null, lowest bigint, highest bigint
-- literals: list, has_lower, has_upper, direction, limit
-- returns: one row: index version, data (JSON text), count in data, null: the total is not known;
--   for cursors: ordinal of the last row where more follow, newest block of the rows, block seen
-- index: dex_trades_by_maker, dex_trades_by_dex, dex_trades_by_pool, dex_trades_pkey, transactions_pkey, dexes_pkey,
--   dexes_name_key, tokens_pkey, blocks_pkey
WITH ordinals AS MATERIALIZED (
    SELECT CASE %(direction)s WHEN 'asc' THEN greatest(first, %(after)s + 1) ELSE first END AS first,
        CASE %(direction)s WHEN 'desc' THEN least(last, %(after)s - 1) ELSE last END AS last
    FROM dex_trade_ordinals(%(block_from)s, %(block_to)s)
), page AS (
    SELECT d.ordinal
    FROM dex_trades d
    WHERE (%(list)s <> 'dex_trades_by_maker' OR d.maker = %(maker)s)
        AND (%(list)s <> 'dex_trades_by_pool' OR d.pool_address = %(pool)s)
        AND (%(list)s <> 'dex_trades_by_dex'
            OR d.dex_id = (SELECT x.dex_id FROM dexes x WHERE x.name = %(dex)s))
        AND (%(maker)s IS NULL OR d.maker = %(maker)s)
        AND (%(dex)s IS NULL
            OR d.dex_id = (SELECT x.dex_id FROM dexes x WHERE x.name = %(dex)s))
        AND (%(pool)s IS NULL OR d.pool_address = %(pool)s)
        AND (%(token)s IS NULL OR d.token_in = %(token)s OR d.token_out = %(token)s)
        AND d.ordinal >= %(lowest)s AND d.ordinal <= %(highest)s
        AND (NOT %(has_lower)s OR d.ordinal >= (SELECT first FROM ordinals))
        AND (NOT %(has_upper)s
            OR (d.ordinal, d.ordinal) <= (SELECT last, last FROM ordinals))
    ORDER BY CASE WHEN %(direction)s = 'asc' THEN d.ordinal END ASC,
        CASE WHEN %(direction)s = 'desc' THEN d.ordinal END DESC
    LIMIT %(limit)s
    OFFSET %(offset)s
)
SELECT index_version(),
    json_list(string_agg(entry.record, ',')),
    count(*),
    null::bigint,
    CASE WHEN count(*) = %(limit)s
        THEN CASE %(direction)s WHEN 'asc' THEN max(entry.ordinal) ELSE min(entry.ordinal) END END,
    (SELECT block_reference(b) FROM blocks b WHERE b.number = max(entry.block_number)),
    (SELECT block_reference(b) FROM blocks b WHERE b.number = %(seen_block)s)
FROM dex_trade_records(ARRAY(SELECT ordinal FROM page)) AS entry;
