-- Stores readings of tokens, each after a block: the supply, null where totalSupply() returns none, of those
-- that were read whole name, symbol and decimals, and the block since which its events do not add up, or null.
-- params: addresses bytea[], supplies numeric[], block_numbers bigint[], are_whole boolean[],
--   names text[], symbols text[], decimals smallint[], inconsistent bigint[]
-- literals: none
-- returns: nothing
-- index: tokens_pkey
UPDATE tokens k
SET total_supply = coalesce(read.supply, 0), supply_block = read.block_number,
    supply_missing = read.supply IS NULL AND k.type <> 'BEP20',
    inconsistent_since = coalesce(k.inconsistent_since, read.inconsistent),
    read_block = CASE WHEN read.is_whole THEN read.block_number ELSE k.read_block END,
    name = CASE WHEN read.is_whole THEN read.name ELSE k.name END,
    symbol = CASE WHEN read.is_whole THEN read.symbol ELSE k.symbol END,
    decimals = CASE WHEN read.is_whole THEN read.decimals ELSE k.decimals END
FROM unnest(%(addresses)s::bytea[], %(supplies)s::numeric[], %(block_numbers)s::bigint[],
        %(are_whole)s::boolean[], %(names)s::text[], %(symbols)s::text[], %(decimals)s::smallint[],
        %(inconsistent)s::bigint[])
    AS read (address, supply, block_number, is_whole, name, symbol, decimals, inconsistent)
WHERE k.address = read.address;
