-- Counts the holders of a token by ranges of their balances, which triggers keep up from then on.
-- params: token bytea
-- returns: nothing
-- index: token_holders_by_balance
INSERT INTO token_holder_ranges (token_address, balance_range, holder_count)
SELECT h.token_address, holder_range(h.balance, h.holder), count(*)
FROM token_holders h
WHERE h.token_address = %(token)s AND h.balance > 0
GROUP BY 1, 2
ORDER BY 1, 2;
