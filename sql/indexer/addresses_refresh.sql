-- Stores balances read at a block.
-- params: addresses bytea[], balances numeric[], block_number bigint
-- returns: nothing
-- index: addresses_pkey
UPDATE addresses a
SET balance = read.balance, balance_block = %(block_number)s, balance_stale = false
FROM unnest(%(addresses)s::bytea[], %(balances)s::numeric[]) AS read (address, balance)
WHERE a.address = read.address;
