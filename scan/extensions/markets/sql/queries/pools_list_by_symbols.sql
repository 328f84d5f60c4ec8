-- Pools of two tokens found by their symbols, in either order and case, among the 1,000 pools with most
-- trades.
-- params: symbol text, other_symbol text, limit integer
-- literals: none
-- returns: one row: index version, JSON text of the records, without their newest trades
-- index: pools_by_trade_count, pools_pkey, pool_volumes_pkey, tokens_pkey, dexes_pkey
WITH known AS (
    SELECT address, token0, token1, trade_count
    FROM pools
    ORDER BY trade_count DESC, address DESC
    LIMIT 1000
), page AS (
    SELECT known.address
    FROM known
    JOIN tokens k0 ON k0.address = known.token0
    JOIN tokens k1 ON k1.address = known.token1
    WHERE (lower(k0.symbol), lower(k1.symbol)) IN (
        (lower(%(symbol)s), lower(%(other_symbol)s)), (lower(%(other_symbol)s), lower(%(symbol)s)))
    ORDER BY known.trade_count DESC, known.address DESC
    LIMIT %(limit)s
)
SELECT index_version(),
    json_list(string_agg(pool_record(p, v, x.name, k0, k1, NULL), ',' ORDER BY p.trade_count DESC, p.address DESC))
FROM page
JOIN pools p ON p.address = page.address
JOIN dexes x ON x.dex_id = p.dex_id
LEFT JOIN pool_volumes v ON v.pool_address = p.address
LEFT JOIN tokens k0 ON k0.address = p.token0
LEFT JOIN tokens k1 ON k1.address = p.token1;
