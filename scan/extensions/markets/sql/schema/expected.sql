CREATE OR REPLACE FUNCTION pool_candles_expected()
RETURNS TABLE (pool_address bytea, hour timestamptz, trade_count bigint, first_ordinal bigint,
    volume0 numeric, volume1 numeric, open_amount0 numeric, open_amount1 numeric,
    high_amount0 numeric, high_amount1 numeric, low_amount0 numeric, low_amount1 numeric,
    close_amount0 numeric, close_amount1 numeric)
LANGUAGE sql STABLE AS $$
    SELECT c.* FROM counted_candles(0, 9223372036854775807, NULL, NULL) c
$$;

-- The volumes of pools, by the stored candles.
CREATE OR REPLACE FUNCTION pool_volumes_expected()
RETURNS TABLE (pool_address bytea, volume0 numeric, volume1 numeric)
LANGUAGE sql STABLE AS $$
    SELECT c.pool_address, sum(c.volume0), sum(c.volume1)
    FROM pool_candles c
    GROUP BY c.pool_address
    HAVING sum(c.volume0) > 0 OR sum(c.volume1) > 0
$$;
