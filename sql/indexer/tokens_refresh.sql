-- Stores readings of tokens, each after a block: the supply, null where totalSupply() returns none, name, symbol and
-- decimals with their block, null where they were not read, and the block since which its events do not add up, or
-- null, with the holder and the item that contradict them; of a marked token, of which the block stays, how many of its
-- holders were asked and have any, null where they were not. It is not unmarked as of an older block than that after
-- which a request found it contradicted. Since when another name or symbol is its is to be found. They `are_reported` of
-- a development node.
-- params: addresses bytea[], supplies numeric[], block_numbers bigint[], read_blocks bigint[],
--   names text[], symbols text[], decimals smallint[], inconsistent bigint[], contradicted text[], asked integer[],
--   drawn integer[], are_reported boolean
-- literals: none
-- returns: nothing
-- index: tokens_pkey
UPDATE tokens k
SET total_supply = coalesce(read.supply, 0), supply_block = read.block_number,
    supply_missing = read.supply IS NULL AND k.type <> 'BEP20',
    inconsistent_since = CASE WHEN k.contradicted IS NOT NULL AND (read.contradicted IS NOT NULL
            OR k.inconsistent_since > read.block_number)
        THEN k.inconsistent_since ELSE read.inconsistent END,
    contradicted = CASE WHEN k.contradicted IS NOT NULL AND k.inconsistent_since > read.block_number
        THEN k.contradicted ELSE read.contradicted::jsonb END, is_reported = %(are_reported)s,
    asked_holders = CASE WHEN read.contradicted IS NOT NULL THEN coalesce(read.asked, k.asked_holders) END,
    drawn_holders = CASE WHEN read.contradicted IS NOT NULL THEN coalesce(read.drawn, k.drawn_holders) END,
    read_block = coalesce(read.read_block, k.read_block),
    name_since = CASE WHEN skeleton(read.name) <> skeleton(k.name) AND read.read_block IS NOT NULL
        THEN -1 ELSE k.name_since END,
    symbol_since = CASE WHEN skeleton(read.symbol) <> skeleton(k.symbol) AND read.read_block IS NOT NULL
        THEN -1 ELSE k.symbol_since END,
    dated = CASE WHEN read.read_block IS NULL
        OR (skeleton(read.name), skeleton(read.symbol)) = (skeleton(k.name), skeleton(k.symbol)) THEN k.dated END,
    name = CASE WHEN read.read_block IS NOT NULL THEN read.name ELSE k.name END,
    symbol = CASE WHEN read.read_block IS NOT NULL THEN read.symbol ELSE k.symbol END,
    decimals = CASE WHEN read.read_block IS NOT NULL THEN read.decimals ELSE k.decimals END
FROM unnest(%(addresses)s::bytea[], %(supplies)s::numeric[], %(block_numbers)s::bigint[],
        %(read_blocks)s::bigint[], %(names)s::text[], %(symbols)s::text[], %(decimals)s::smallint[],
        %(inconsistent)s::bigint[], %(contradicted)s::text[], %(asked)s::integer[], %(drawn)s::integer[])
    AS read (address, supply, block_number, read_block, name, symbol, decimals, inconsistent, contradicted, asked, drawn)
WHERE k.address = read.address;
