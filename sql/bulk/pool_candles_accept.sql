-- Candles of a bulk backfill count all trades: volumes of pools from them, and the state that says so.
-- params: none
-- returns: nothing
-- index: pools_pkey, blocks_pkey
WITH volumes AS (
    UPDATE pools p
    SET volume0 = c.volume0,
        volume1 = c.volume1
    FROM (
        SELECT pool_address, sum(volume0) AS volume0, sum(volume1) AS volume1
        FROM pool_candles
        GROUP BY pool_address
    ) AS c
    WHERE p.address = c.pool_address
)
INSERT INTO pool_candles_state (first_trade, last_hash)
SELECT 0, (SELECT hash FROM blocks ORDER BY number DESC LIMIT 1)
ON CONFLICT (only_row) DO UPDATE SET
    first_trade = EXCLUDED.first_trade,
    last_hash = EXCLUDED.last_hash;
