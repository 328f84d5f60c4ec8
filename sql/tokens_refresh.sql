-- Stores supplies read at a block.
-- params: addresses bytea[], supplies numeric[], block_number bigint
-- returns: nothing
-- index: tokens_pkey
UPDATE tokens k
SET total_supply = read.supply, supply_block = %(block_number)s
FROM unnest(%(addresses)s::bytea[], %(supplies)s::numeric[]) AS read (address, supply)
WHERE k.address = read.address;
