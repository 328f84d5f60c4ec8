-- The tokens among these addresses, with their types and the log from which on they are tokens.
-- params: addresses bytea[]
-- returns: address, type, whether it is a BEP20 with items, the block from which on its Deposit
--   means a mint or null, block number and log of its first one
-- index: tokens_pkey
SELECT k.address, k.type, k.has_items, k.wraps_since, k.block_number, k.log_index
FROM tokens k
WHERE k.address = ANY(%(addresses)s::bytea[]);
