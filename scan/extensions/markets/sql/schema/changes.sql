-- The candles of trades first..last, or only those of some pools and hours where these are given. Prices of
-- a candle are compared as whole numbers: two that differ, as amount1 / amount0, do so by at least 1 / scale,
-- where scale is the square of the largest amount0. OFFSET 0 makes the planner compute prices once, not for
-- each use.
CREATE OR REPLACE FUNCTION counted_candles(
    first bigint, last bigint, some_pools bytea[], some_hours timestamptz[])
RETURNS TABLE (pool_address bytea, hour timestamptz, trade_count bigint, first_ordinal bigint,
    volume0 numeric, volume1 numeric, open_amount0 numeric, open_amount1 numeric,
    high_amount0 numeric, high_amount1 numeric, low_amount0 numeric, low_amount1 numeric,
    close_amount0 numeric, close_amount1 numeric)
LANGUAGE sql STABLE AS $$
    SELECT c.pool_address, c.hour, count(*), min(c.ordinal), sum(c.amount0), sum(c.amount1),
        max(c.amount0) FILTER (WHERE c.ordinal = c.opens), max(c.amount1) FILTER (WHERE c.ordinal = c.opens),
        max(c.amount0) FILTER (WHERE c.ordinal = c.highs), max(c.amount1) FILTER (WHERE c.ordinal = c.highs),
        max(c.amount0) FILTER (WHERE c.ordinal = c.lows), max(c.amount1) FILTER (WHERE c.ordinal = c.lows),
        max(c.amount0) FILTER (WHERE c.ordinal = c.closes), max(c.amount1) FILTER (WHERE c.ordinal = c.closes)
    FROM (
        SELECT e.*, min(e.ordinal) FILTER (WHERE e.price = e.highest) OVER candle AS highs,
            min(e.ordinal) FILTER (WHERE e.price = e.lowest) OVER candle AS lows
        FROM (
            SELECT r.*, max(r.price) OVER candle AS highest, min(r.price) OVER candle AS lowest,
                min(r.ordinal) FILTER (WHERE r.price IS NOT NULL) OVER candle AS opens,
                max(r.ordinal) FILTER (WHERE r.price IS NOT NULL) OVER candle AS closes
            FROM (
                SELECT t.*, CASE WHEN t.amount0 > 0 AND t.amount1 > 0
                    THEN div(t.amount1 * t.scale, t.amount0) END AS price
                FROM (
                    SELECT a.*, (max(a.amount0) OVER candle) * (max(a.amount0) OVER candle) AS scale
                    FROM (
                        SELECT d.ordinal, d.pool_address,
                            date_trunc('hour', b.timestamp, 'UTC') AS hour,
                            CASE WHEN d.token_in = p.token0 THEN d.amount_in
                                ELSE d.amount_out END AS amount0,
                            CASE WHEN d.token_in = p.token0 THEN d.amount_out
                                ELSE d.amount_in END AS amount1
                        FROM dex_trades d
                        JOIN pools p ON p.address = d.pool_address
                        JOIN blocks b ON b.number = d.block_number
                        WHERE d.ordinal BETWEEN first AND last
                            AND (some_pools IS NULL OR d.pool_address = ANY(some_pools))
                    ) AS a
                    WHERE some_pools IS NULL
                        OR (a.pool_address, a.hour) IN (SELECT * FROM unnest(some_pools, some_hours))
                    WINDOW candle AS (PARTITION BY a.pool_address, a.hour)
                ) AS t
                OFFSET 0
            ) AS r
            WINDOW candle AS (PARTITION BY r.pool_address, r.hour)
        ) AS e
        WINDOW candle AS (PARTITION BY e.pool_address, e.hour)
    ) AS c
    GROUP BY c.pool_address, c.hour
$$;
