-- Makes candles what the trades give.
-- params: none
-- returns: nothing
-- index: none
WITH wrong AS (
    DELETE FROM pool_candles s
    WHERE NOT EXISTS (SELECT FROM expected_pool_candles e
        WHERE e.pool_address = s.pool_address AND e.hour = s.hour)
)
INSERT INTO pool_candles AS s (pool_address, hour, trade_count, first_ordinal, volume0, volume1,
    open_amount0, open_amount1, high_amount0, high_amount1, low_amount0, low_amount1,
    close_amount0, close_amount1)
SELECT pool_address, hour, trade_count, first_ordinal, volume0, volume1, open_amount0,
    open_amount1, high_amount0, high_amount1, low_amount0, low_amount1, close_amount0,
    close_amount1
FROM expected_pool_candles
ON CONFLICT (pool_address, hour) DO UPDATE SET
    trade_count = EXCLUDED.trade_count,
    first_ordinal = EXCLUDED.first_ordinal,
    volume0 = EXCLUDED.volume0,
    volume1 = EXCLUDED.volume1,
    open_amount0 = EXCLUDED.open_amount0,
    open_amount1 = EXCLUDED.open_amount1,
    high_amount0 = EXCLUDED.high_amount0,
    high_amount1 = EXCLUDED.high_amount1,
    low_amount0 = EXCLUDED.low_amount0,
    low_amount1 = EXCLUDED.low_amount1,
    close_amount0 = EXCLUDED.close_amount0,
    close_amount1 = EXCLUDED.close_amount1;
