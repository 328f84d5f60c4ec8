-- Stores readings of tokens, each after a block: the supply, null where totalSupply() returns none, name, symbol and
-- decimals with their block, null where they were not read, and the block since which its events do not add up, or null.
-- params: addresses bytea[], supplies numeric[], block_numbers bigint[], read_blocks bigint[],
--   names text[], symbols text[], decimals smallint[], inconsistent bigint[]
-- literals: none
-- returns: nothing
-- index: tokens_pkey
UPDATE tokens k
SET total_supply = coalesce(read.supply, 0), supply_block = read.block_number,
    supply_missing = read.supply IS NULL AND k.type <> 'BEP20',
    inconsistent_since = coalesce(k.inconsistent_since, read.inconsistent),
    read_block = coalesce(read.read_block, k.read_block),
    name = CASE WHEN read.read_block IS NOT NULL THEN read.name ELSE k.name END,
    symbol = CASE WHEN read.read_block IS NOT NULL THEN read.symbol ELSE k.symbol END,
    decimals = CASE WHEN read.read_block IS NOT NULL THEN read.decimals ELSE k.decimals END
FROM unnest(%(addresses)s::bytea[], %(supplies)s::numeric[], %(block_numbers)s::bigint[],
        %(read_blocks)s::bigint[], %(names)s::text[], %(symbols)s::text[], %(decimals)s::smallint[],
        %(inconsistent)s::bigint[])
    AS read (address, supply, block_number, read_block, name, symbol, decimals, inconsistent)
WHERE k.address = read.address;
