-- Pools with their tokens and exchanges, and the block from which on each is one.
-- params: none
-- returns: address, name of the exchange, token0, token1, block number
-- index: dexes_pkey
SELECT p.address, x.name, p.token0, p.token1, p.block_number FROM pools p JOIN dexes x USING (dex_id);
