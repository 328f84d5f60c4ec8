-- Adds trades already written, which no candle counts yet, to the candles and volumes of their pools:
-- trades after those that are counted, or before them; of some candles alone, where these are given.
-- params: first_trade bigint, last_trade bigint, pools bytea[] null, hours timestamptz[] null
-- returns: nothing
-- index: dex_trades_pkey, dex_trades_by_pool, blocks_pkey, pools_pkey, pool_candles_pkey
WITH counted AS MATERIALIZED (
    SELECT c.pool_address, c.hour, c.trade_count, c.first_ordinal, c.volume0, c.volume1,
        c.open_amount0, c.open_amount1, c.high_amount0, c.high_amount1, c.low_amount0, c.low_amount1,
        c.close_amount0, c.close_amount1
    FROM counted_candles(%(first_trade)s, %(last_trade)s, %(pools)s::bytea[],
        %(hours)s::timestamptz[]) AS c
), written AS (
    INSERT INTO pool_candles AS s (pool_address, hour, trade_count, first_ordinal, volume0, volume1,
        open_amount0, open_amount1, high_amount0, high_amount1, low_amount0, low_amount1,
        close_amount0, close_amount1)
    SELECT pool_address, hour, trade_count, first_ordinal, volume0, volume1, open_amount0,
        open_amount1, high_amount0, high_amount1, low_amount0, low_amount1, close_amount0,
        close_amount1
    FROM counted
    -- A comparison with a candle that has no prices is null, so what it would give is not taken.
    ON CONFLICT (pool_address, hour) DO UPDATE SET
        trade_count = s.trade_count + EXCLUDED.trade_count,
        first_ordinal = least(s.first_ordinal, EXCLUDED.first_ordinal),
        volume0 = s.volume0 + EXCLUDED.volume0,
        volume1 = s.volume1 + EXCLUDED.volume1,
        open_amount0 = CASE WHEN s.open_amount0 IS NULL OR EXCLUDED.first_ordinal < s.first_ordinal
            THEN coalesce(EXCLUDED.open_amount0, s.open_amount0) ELSE s.open_amount0 END,
        open_amount1 = CASE WHEN s.open_amount0 IS NULL OR EXCLUDED.first_ordinal < s.first_ordinal
            THEN coalesce(EXCLUDED.open_amount1, s.open_amount1) ELSE s.open_amount1 END,
        high_amount0 = CASE WHEN s.high_amount0 IS NULL
            OR (EXCLUDED.high_amount1 * s.high_amount0, s.first_ordinal)
                > (s.high_amount1 * EXCLUDED.high_amount0, EXCLUDED.first_ordinal)
            THEN EXCLUDED.high_amount0 ELSE s.high_amount0 END,
        high_amount1 = CASE WHEN s.high_amount0 IS NULL
            OR (EXCLUDED.high_amount1 * s.high_amount0, s.first_ordinal)
                > (s.high_amount1 * EXCLUDED.high_amount0, EXCLUDED.first_ordinal)
            THEN EXCLUDED.high_amount1 ELSE s.high_amount1 END,
        low_amount0 = CASE WHEN s.low_amount0 IS NULL
            OR (EXCLUDED.low_amount1 * s.low_amount0, EXCLUDED.first_ordinal)
                < (s.low_amount1 * EXCLUDED.low_amount0, s.first_ordinal)
            THEN EXCLUDED.low_amount0 ELSE s.low_amount0 END,
        low_amount1 = CASE WHEN s.low_amount0 IS NULL
            OR (EXCLUDED.low_amount1 * s.low_amount0, EXCLUDED.first_ordinal)
                < (s.low_amount1 * EXCLUDED.low_amount0, s.first_ordinal)
            THEN EXCLUDED.low_amount1 ELSE s.low_amount1 END,
        close_amount0 = CASE WHEN s.close_amount0 IS NULL OR EXCLUDED.first_ordinal > s.first_ordinal
            THEN coalesce(EXCLUDED.close_amount0, s.close_amount0) ELSE s.close_amount0 END,
        close_amount1 = CASE WHEN s.close_amount0 IS NULL OR EXCLUDED.first_ordinal > s.first_ordinal
            THEN coalesce(EXCLUDED.close_amount1, s.close_amount1) ELSE s.close_amount1 END
)
UPDATE pools p
SET volume0 = p.volume0 + c.volume0,
    volume1 = p.volume1 + c.volume1
FROM (
    SELECT pool_address, sum(volume0) AS volume0, sum(volume1) AS volume1
    FROM counted
    GROUP BY pool_address
) AS c
WHERE p.address = c.pool_address;
