-- The trades of a pool in an hour of its blocks' own times; an hour without trades has no row. A price is
-- kept as the two amounts of the trade that has it, of several the first, so that nothing is rounded:
-- amount1 / amount0. Null where every trade has an amount of 0.
CREATE TABLE IF NOT EXISTS pool_candles (
    pool_address bytea NOT NULL,
    hour timestamptz NOT NULL,     -- when it begins
    trade_count bigint NOT NULL,
    first_ordinal bigint NOT NULL, -- of these trades
    volume0 numeric NOT NULL,      -- of token0, in its smallest unit
    volume1 numeric NOT NULL,
    open_amount0 numeric(78, 0),   -- of the first trade with a price
    open_amount1 numeric(78, 0),
    high_amount0 numeric(78, 0),
    high_amount1 numeric(78, 0),
    low_amount0 numeric(78, 0),
    low_amount1 numeric(78, 0),
    close_amount0 numeric(78, 0),
    close_amount1 numeric(78, 0),
    -- serves queries/pool_candles_list_by_hour, queries/pool_volumes_get
    PRIMARY KEY (pool_address, hour)
) WITH (fillfactor = 70);          -- the newest hour of a pool changes in place

-- The volumes of a pool, in all trades that candles count. A pool in which no amount was traded has no row.
CREATE TABLE IF NOT EXISTS pool_volumes (
    -- serves queries/pools_list, queries/pools_get, queries/pool_volumes_get
    pool_address bytea PRIMARY KEY,
    volume0 numeric NOT NULL,      -- of token0, in its smallest unit
    volume1 numeric NOT NULL
) WITH (fillfactor = 70);          -- it changes in place with every batch
