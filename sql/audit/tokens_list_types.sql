-- The lives of the tokens among these addresses, with their types and the logs from which on they are tokens.
-- params: addresses bytea[]
-- returns: address, type, whether it is a BEP20 with items, the block from which on its Deposit
--   means a mint or null, block number and log of its first one, the block before which it ended or null
-- index: tokens_pkey
SELECT k.address, l.type, l.has_items, l.wraps_since, l.block_number, l.log_index, l.end_block
FROM tokens k
CROSS JOIN token_lives(k) AS l
WHERE k.address = ANY(%(addresses)s::bytea[]);
