-- The coin's symbol, and what messages say of tokens.
-- params: tokens bytea[]
-- literals: none
-- returns: the coin: null, its symbol, 18; each token: its address, symbol, decimals
-- index: tokens_pkey
SELECT NULL::bytea, coin_symbol(), 18
UNION ALL
SELECT address, symbol, decimals FROM tokens WHERE address = ANY (%(tokens)s);
