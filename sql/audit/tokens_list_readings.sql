-- Readings of tokens with the blocks that they are of, in the order of addresses. Those that are to be read again
-- are passed over.
-- params: after bytea, most integer
-- returns: address, number and hash of the block of the type, of that of name, symbol and decimals, and of that of
--   the supply, who was the last to receive in its first block what is the id of an item or an amount, and that,
--   nulls where it was burnt, type, name, symbol, decimals, supply, number and hash of the head, and the holder of most
--   by events with the balance, or nulls where a contradiction marks it, or of ids with amounts
-- index: tokens_pkey, blocks_pkey, token_transfers_by_token, token_holders_by_balance
SELECT k.address, t.number, t.hash, r.number, r.hash, s.number, s.hash, claimed.party, claimed.word, k.type, k.name, k.symbol, k.decimals,
    k.total_supply, head.number, head.hash, held.holder, held.balance
FROM tokens k
JOIN blocks t ON t.number = k.block_number
JOIN blocks r ON r.number = k.read_block
JOIN blocks s ON s.number = k.supply_block
LEFT JOIN LATERAL (
    SELECT m.word, m.party
    FROM (
        SELECT coalesce(x.token_id, x.value) AS word, min(x.ordinal) AS first_ordinal,
            (array_agg(x.to_address ORDER BY x.ordinal DESC))[1] AS party
        FROM token_transfers x
        WHERE x.token_address = k.address AND NOT has_amounts(k.type)
            AND x.ordinal >= t.token_transfers_before AND x.ordinal < t.token_transfers_before + t.token_transfer_count
        GROUP BY 1
    ) AS m
    WHERE m.party <> zero_address()
    ORDER BY m.first_ordinal
    LIMIT 1
) AS claimed ON true
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
