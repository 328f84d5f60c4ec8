-- The lives of the tokens among these addresses, with their types and the logs from which on they are tokens.
-- params: addresses bytea[]
-- returns: address, type, the type of a BEP20's items or null, the block from which on its Deposit
--   means a mint or null, block number and log of its first one, the block before which it ended or null
-- index: tokens_pkey
SELECT k.address, l.type, l.item_type, l.wraps_since, l.block_number, l.log_index, l.end_block
FROM tokens k
CROSS JOIN token_lives(k) AS l
WHERE k.address = ANY(%(addresses)s::bytea[]);
