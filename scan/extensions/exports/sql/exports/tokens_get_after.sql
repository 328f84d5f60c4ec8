-- Tokens in the order of their addresses, from after one of them.
-- params: after bytea, limit integer
-- returns: address, type, name, symbol, decimals, total supply (text), number of holders, of
--   transfers
-- index: tokens_pkey
SELECT t.address, t.type, t.name, t.symbol, t.decimals, token_supply(t)::text, counted_holders(t),
    t.transfer_count
FROM tokens t
WHERE t.address > %(after)s
ORDER BY t.address
LIMIT %(limit)s;
