-- Stores supplies, each read after a block.
-- params: addresses bytea[], supplies numeric[], block_numbers bigint[]
-- returns: nothing
-- index: tokens_pkey
UPDATE tokens k
SET total_supply = read.supply, supply_block = read.block_number
FROM unnest(%(addresses)s::bytea[], %(supplies)s::numeric[], %(block_numbers)s::bigint[])
    AS read (address, supply, block_number)
WHERE k.address = read.address;
