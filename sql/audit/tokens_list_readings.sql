-- Readings of tokens with the blocks that they are of, in the order of addresses. Those that are to be read again
-- are passed over.
-- params: after bytea, most integer
-- returns: address, number and hash of the block of the type, of that of name, symbol and decimals, and of that of
--   the supply, type, name, symbol, decimals, supply, number and hash of the head, and the holder of most by events
--   with the balance, or nulls where events are known not to add up, or of ids with amounts
-- index: tokens_pkey, blocks_pkey, token_holders_by_balance
SELECT k.address, t.number, t.hash, r.number, r.hash, s.number, s.hash, k.type, k.name, k.symbol, k.decimals,
    k.total_supply, head.number, head.hash, held.holder, held.balance
FROM tokens k
JOIN blocks t ON t.number = k.block_number
JOIN blocks r ON r.number = k.read_block
JOIN blocks s ON s.number = k.supply_block
CROSS JOIN LATERAL (SELECT b.number, b.hash FROM blocks b ORDER BY b.number DESC LIMIT 1) AS head
LEFT JOIN LATERAL (
    SELECT h.holder, h.balance
    FROM token_holders h
    WHERE h.token_address = k.address AND h.balance > 0 AND k.inconsistent_since IS NULL AND NOT has_amounts(k.type)
    ORDER BY h.balance DESC, h.holder DESC
    LIMIT 1) AS held ON true
WHERE k.ended_in IS NULL AND k.address > %(after)s
ORDER BY k.address
LIMIT %(most)s;
