-- Readings of tokens with the blocks that they are of, in the order of addresses. Those that are to be read again
-- are passed over.
-- params: after bytea, most integer
-- returns: address, number and hash of the block of the type, of that of name, symbol and decimals, and of that of
--   the supply, type, name, symbol, decimals, supply
-- index: tokens_pkey, blocks_pkey
SELECT k.address, t.number, t.hash, r.number, r.hash, s.number, s.hash, k.type, k.name, k.symbol, k.decimals,
    k.total_supply
FROM tokens k
JOIN blocks t ON t.number = k.block_number
JOIN blocks r ON r.number = k.read_block
JOIN blocks s ON s.number = k.supply_block
WHERE k.ended_in IS NULL AND k.address > %(after)s
ORDER BY k.address
LIMIT %(most)s;
