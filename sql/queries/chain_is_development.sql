-- Whether the indexed chain is a development node's, where state may change without a block.
-- params: none
-- literals: none
-- returns: no row while there are no blocks, no bulk backfill and no block that it forks; else a boolean
-- index: chain_pkey, blocks_pkey, bulk_backfill_pkey
SELECT is_development
FROM chain
WHERE EXISTS (SELECT FROM blocks) OR EXISTS (SELECT FROM bulk_backfill) OR fork_block IS NOT NULL;
