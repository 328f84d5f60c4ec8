-- The newest candles of a pool in a range of time, oldest first, of whole hours each. They are made from
-- hourly candles, of which no more are read than `limit` candles may have, and one more.
-- params: address bytea, span_s bigint, first_s bigint, last_s bigint, limit integer
-- literals: none
-- returns: one row: index version, data (JSON text), the second before the oldest of them where the
--   range has older ones
-- index: pool_candles_pkey, pools_pkey, tokens_pkey
WITH pool AS MATERIALIZED (
    SELECT token_unit(k0) AS unit0, token_unit(k1) AS unit1
    FROM pools p
    LEFT JOIN tokens k0 ON k0.address = p.token0
    LEFT JOIN tokens k1 ON k1.address = p.token1
    WHERE p.address = %(address)s
), hours AS MATERIALIZED (
    SELECT c.hour, div(extract(epoch FROM c.hour), %(span_s)s)::bigint * %(span_s)s AS start_s,
        c.trade_count, c.volume0, c.volume1,
        pool_price(c.open_amount0, c.open_amount1, p.unit0, p.unit1) AS open,
        pool_price(c.high_amount0, c.high_amount1, p.unit0, p.unit1) AS high,
        pool_price(c.low_amount0, c.low_amount1, p.unit0, p.unit1) AS low,
        pool_price(c.close_amount0, c.close_amount1, p.unit0, p.unit1) AS close
    FROM (
        SELECT hour, trade_count, volume0, volume1, open_amount0, open_amount1, high_amount0,
            high_amount1, low_amount0, low_amount1, close_amount0, close_amount1
        FROM pool_candles
        WHERE pool_address = %(address)s
            AND hour >= to_timestamp(%(first_s)s) AND hour <= to_timestamp(%(last_s)s)
        ORDER BY hour DESC
        LIMIT (%(limit)s + 1) * (%(span_s)s / 3600)
    ) AS c
    CROSS JOIN pool p
), candles AS MATERIALIZED (
    SELECT start_s, sum(trade_count)::bigint AS trades, sum(volume0) AS volume0,
        sum(volume1) AS volume1,
        (array_agg(open ORDER BY hour) FILTER (WHERE open IS NOT NULL))[1] AS open,
        max(high) AS high, min(low) AS low,
        (array_agg(close ORDER BY hour DESC) FILTER (WHERE close IS NOT NULL))[1] AS close
    FROM hours
    GROUP BY start_s
), newest AS MATERIALIZED (
    SELECT start_s, trades, volume0, volume1, open, high, low, close
    FROM candles
    ORDER BY start_s DESC
    LIMIT %(limit)s
)
SELECT index_version(),
    json_list((
        SELECT string_agg(candle_record(to_timestamp(c.start_s), c.open, c.high, c.low, c.close,
            c.volume0, c.volume1, c.trades), ',' ORDER BY c.start_s)
        FROM newest c)),
    CASE WHEN (SELECT count(*) FROM candles) > %(limit)s
        THEN (SELECT min(c.start_s) - 1 FROM newest c) END;
