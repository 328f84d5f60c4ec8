-- Pools by how many trades they have, with the newest of each; of one exchange, or with one token.
-- Planned for each call: a filter has no index of its own, and what is null is left out of the plan.
-- params: dex text null, token bytea null, direction text, limit integer, offset bigint,
--   after_count bigint null, after_address bytea null
-- returns: one row: index version, data (JSON text), count in data, total (null where filtered); for
--   cursors: trade count and address of the last row where more may follow
-- index: pools_by_trade_count, pools_pkey, dex_trades_by_pool, dexes_pkey, dexes_name_key, tokens_pkey,
--   transactions_pkey, blocks_pkey
WITH page AS (
    SELECT p.trade_count, p.address
    FROM pools p
    WHERE (%(dex)s IS NULL OR p.dex_id = (SELECT x.dex_id FROM dexes x WHERE x.name = %(dex)s))
        AND (%(token)s IS NULL OR p.token0 = %(token)s OR p.token1 = %(token)s)
        AND (%(after_address)s IS NULL OR %(direction)s <> 'asc'
            OR (p.trade_count, p.address) > (%(after_count)s, %(after_address)s))
        AND (%(after_address)s IS NULL OR %(direction)s <> 'desc'
            OR (p.trade_count, p.address) < (%(after_count)s, %(after_address)s))
    ORDER BY
        CASE WHEN %(direction)s = 'asc' THEN p.trade_count END ASC,
        CASE WHEN %(direction)s = 'asc' THEN p.address END ASC,
        CASE WHEN %(direction)s = 'desc' THEN p.trade_count END DESC,
        CASE WHEN %(direction)s = 'desc' THEN p.address END DESC
    LIMIT %(limit)s
    OFFSET %(offset)s
), last AS (
    SELECT trade_count, address
    FROM page
    WHERE (SELECT count(*) FROM page) = %(limit)s
    ORDER BY
        CASE WHEN %(direction)s = 'desc' THEN trade_count END ASC,
        CASE WHEN %(direction)s = 'desc' THEN address END ASC,
        CASE WHEN %(direction)s = 'asc' THEN trade_count END DESC,
        CASE WHEN %(direction)s = 'asc' THEN address END DESC
    LIMIT 1
)
SELECT index_version(),
    json_list(string_agg(
        (SELECT pool_record(p, (SELECT x.name FROM dexes x WHERE x.dex_id = p.dex_id), k0, k1, (
            SELECT json_build_object('transactionHash', hex(t.hash), 'timestamp', iso(b.timestamp))
            FROM (
                SELECT d.block_number, d.transaction_index
                FROM dex_trades d
                WHERE d.pool_address = p.address
                ORDER BY d.ordinal DESC
                LIMIT 1
            ) AS newest
            JOIN blocks b ON b.number = newest.block_number
            JOIN transactions t ON t.ordinal = b.transactions_before + newest.transaction_index
        ))
        FROM pools p
        LEFT JOIN tokens k0 ON k0.address = p.token0
        LEFT JOIN tokens k1 ON k1.address = p.token1
        WHERE p.address = page.address), ',')),
    count(*),
    CASE WHEN %(dex)s IS NULL AND %(token)s IS NULL THEN (SELECT count(*) FROM pools) END,
    (SELECT trade_count FROM last),
    (SELECT address FROM last)
FROM page;
