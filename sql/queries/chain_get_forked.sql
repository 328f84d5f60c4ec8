-- The block that a development node forks, before it has any of its own.
-- params: none
-- literals: none
-- returns: its number; no row once a block is indexed, or of another chain
-- index: chain_pkey, blocks_pkey
SELECT fork_block FROM chain WHERE fork_block IS NOT NULL AND NOT EXISTS (SELECT FROM blocks);
