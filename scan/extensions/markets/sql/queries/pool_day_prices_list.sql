-- The price of each of the pools given on the day beside it: the median of the closing prices of the hours of
-- the day (UTC) that have trades, as that of queries/pool_prices_list; and what was traded in these hours. A
-- pool without trades on the day has no row.
-- params: pools bytea[], days date[]
-- literals: none
-- returns: one row: index version, JSON text of [{pool, day, token0, token1, price, volume0, volume1}], where
--   price is of one token0 in token1, and volumes are of whole tokens, as texts
-- index: pools_pkey, tokens_pkey, pool_candles_pkey
SELECT index_version(),
    json_list(string_agg(
        json_build_object('pool', hex(w.pool), 'day', w.day, 'token0', hex(p.token0), 'token1', hex(p.token1),
            'price', trim_scale(median.price)::text,
            'volume0', trim_scale(median.volume0 / token_unit(k0))::text,
            'volume1', trim_scale(median.volume1 / token_unit(k1))::text)::text, ','))
FROM unnest(%(pools)s, %(days)s) AS w (pool, day)
JOIN pools p ON p.address = w.pool
LEFT JOIN tokens k0 ON k0.address = p.token0
LEFT JOIN tokens k1 ON k1.address = p.token1
CROSS JOIN LATERAL (
    SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY c.price) AS price,
        sum(c.volume0) AS volume0, sum(c.volume1) AS volume1
    FROM (
        SELECT pool_price(a.close_amount0, a.close_amount1, token_unit(k0), token_unit(k1)) AS price,
            a.volume0, a.volume1
        FROM pool_candles a
        WHERE a.pool_address = w.pool
            AND a.hour >= w.day::timestamp AT TIME ZONE 'UTC'
            AND a.hour < (w.day + 1)::timestamp AT TIME ZONE 'UTC'
            AND a.close_amount0 > 0 AND a.close_amount1 > 0
    ) AS c
) AS median
WHERE median.price > 0;
