-- The pools among these addresses, with their tokens and the block from which on they are pools.
-- params: addresses bytea[]
-- returns: address, block number, token0, token1, dex_id
-- index: pools_pkey
SELECT address, block_number, token0, token1, dex_id
FROM pools
WHERE address = ANY(%(addresses)s::bytea[]);
