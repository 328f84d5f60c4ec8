-- Which of these addresses are pools, of which tokens, and since which block.
-- params: addresses bytea[]
-- returns: address, block number, token0, token1
-- index: pools_pkey
SELECT address, block_number, token0, token1
FROM pools
WHERE address = ANY(%(addresses)s::bytea[]);
