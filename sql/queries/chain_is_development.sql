-- Whether the indexed chain is a development node's, where state may change without a block.
-- params: chain_ids numeric[]
-- literals: none
-- returns: no row while there are no blocks and no bulk backfill; else a boolean
-- index: chain_pkey, blocks_pkey, bulk_backfill_pkey
SELECT is_development OR fork_block IS NOT NULL OR chain_id = ANY(%(chain_ids)s::numeric[])
FROM chain
WHERE EXISTS (SELECT FROM blocks) OR EXISTS (SELECT FROM bulk_backfill);
