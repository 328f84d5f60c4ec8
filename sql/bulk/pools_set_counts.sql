-- Stores how many trades pools have.
-- params: addresses bytea[], counts bigint[]
-- returns: nothing
-- index: pools_pkey
UPDATE pools p
SET trade_count = c.trades
FROM unnest(%(addresses)s::bytea[], %(counts)s::bigint[]) AS c (address, trades)
WHERE p.address = c.address;
