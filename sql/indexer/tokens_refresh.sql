-- Stores supplies, each read after a block; null where a token has no totalSupply().
-- params: addresses bytea[], supplies numeric[], block_numbers bigint[]
-- literals: none
-- returns: nothing
-- index: tokens_pkey
UPDATE tokens k
SET total_supply = coalesce(read.supply, 0), supply_block = read.block_number,
    supply_missing = read.supply IS NULL AND k.type <> 'BEP20'
FROM unnest(%(addresses)s::bytea[], %(supplies)s::numeric[], %(block_numbers)s::bigint[])
    AS read (address, supply, block_number)
WHERE k.address = read.address;
