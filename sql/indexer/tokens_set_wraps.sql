-- Stores from which block on the Deposits and Withdrawals of a token mint and burn.
-- params: address bytea, block_number bigint
-- literals: none
-- returns: nothing
-- index: tokens_pkey
UPDATE tokens SET wraps_since = %(block_number)s WHERE address = %(address)s;
