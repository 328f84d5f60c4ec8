-- Stores from which blocks on the Deposits and Withdrawals of tokens mint and burn.
-- params: addresses bytea[], block_numbers bigint[]
-- literals: none
-- returns: nothing
-- index: tokens_pkey
UPDATE tokens k
SET wraps_since = w.block_number
FROM unnest(%(addresses)s::bytea[], %(block_numbers)s::bigint[]) AS w (address, block_number)
WHERE k.address = w.address;
