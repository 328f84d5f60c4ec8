-- The chain of a database of any version.
-- params: none
-- returns: no row where nothing is indexed; else chain_id as text, genesis_hash, the newest block
-- index: chain_pkey, blocks_pkey
SELECT c.chain_id::text, c.genesis_hash, (SELECT max(b.number) FROM blocks b)
FROM chain c
WHERE EXISTS (SELECT FROM blocks);
