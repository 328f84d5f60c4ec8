-- The tokens among these addresses, with their types and the log from which on they are tokens.
-- params: addresses bytea[]
-- returns: address, type, the type of a BEP20's items or null, the block from which on its Deposit
--   means a mint or null, block number and log of its first one
-- index: tokens_pkey
SELECT k.address, k.type, k.item_type, k.wraps_since, k.block_number, k.log_index
FROM tokens k
WHERE k.address = ANY(%(addresses)s::bytea[]);
