-- Stores the volumes of pools, summed over the candles of a bulk backfill, which count all trades.
-- params: none
-- returns: nothing
-- index: none
INSERT INTO pool_volumes (pool_address, volume0, volume1)
SELECT pool_address, volume0, volume1 FROM pool_volumes_expected();
