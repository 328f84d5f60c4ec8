-- Stores the numbers of trades of pools.
-- params: addresses bytea[], counts bigint[]
-- returns: nothing
-- index: pools_pkey
UPDATE pools p
SET trade_count = c.trades
FROM unnest(%(addresses)s::bytea[], %(counts)s::bigint[]) AS c (address, trades)
WHERE p.address = c.address;
