-- Removes the candles that count any of these trades, before the trades are deleted, and takes the candles'
-- volumes from those of the pools.
-- params: first_trade bigint, last_trade bigint
-- returns: pool, hour (as text, since it may be beyond Python's calendar) and the ordinal of the first
--   trade of each candle
-- index: dex_trades_pkey, blocks_pkey, pool_candles_pkey, pool_volumes_pkey
WITH orphaned AS MATERIALIZED (
    SELECT DISTINCT d.pool_address, date_trunc('hour', b.timestamp, 'UTC') AS hour
    FROM dex_trades d
    JOIN blocks b ON b.number = d.block_number
    WHERE d.ordinal BETWEEN %(first_trade)s AND %(last_trade)s
), removed AS (
    DELETE FROM pool_candles c
    USING orphaned o
    WHERE c.pool_address = o.pool_address AND c.hour = o.hour
    RETURNING c.pool_address, c.hour, c.first_ordinal, c.volume0, c.volume1
), lost AS MATERIALIZED (
    SELECT pool_address, sum(volume0) AS volume0, sum(volume1) AS volume1
    FROM removed
    GROUP BY pool_address
), ended AS (
    DELETE FROM pool_volumes v
    USING lost l
    WHERE v.pool_address = l.pool_address AND (v.volume0, v.volume1) = (l.volume0, l.volume1)
), reduced AS (
    UPDATE pool_volumes v
    SET volume0 = v.volume0 - l.volume0,
        volume1 = v.volume1 - l.volume1
    FROM lost l
    WHERE v.pool_address = l.pool_address AND (v.volume0, v.volume1) <> (l.volume0, l.volume1)
)
SELECT pool_address, hour::text, first_ordinal FROM removed;
