-- Pools with their tokens and exchanges.
-- params: none
-- returns: address, name of the exchange, token0, token1
-- index: dexes_pkey
SELECT p.address, x.name, p.token0, p.token1 FROM pools p JOIN dexes x USING (dex_id);
