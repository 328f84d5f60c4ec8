-- The block of a token's first transfer.
-- params: address bytea
-- returns: its number; no row where there is no such token
-- index: tokens_pkey
SELECT block_number
FROM tokens
WHERE address = %(address)s;
