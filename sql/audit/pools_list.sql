-- The pools among these addresses, with their tokens and the block from which on they are pools.
-- params: addresses bytea[]
-- returns: address, block number, token0, token1
-- index: pools_pkey
SELECT address, block_number, token0, token1
FROM pools
WHERE address = ANY(%(addresses)s::bytea[]);
