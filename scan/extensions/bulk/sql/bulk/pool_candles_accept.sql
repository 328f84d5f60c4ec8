-- Stores the volumes of pools, summed over the candles of a bulk backfill, which count all trades.
-- params: none
-- returns: nothing
-- index: pools_pkey
UPDATE pools p
SET volume0 = c.volume0,
    volume1 = c.volume1
FROM (
    SELECT pool_address, sum(volume0) AS volume0, sum(volume1) AS volume1
    FROM pool_candles
    GROUP BY pool_address
) AS c
WHERE p.address = c.pool_address;
