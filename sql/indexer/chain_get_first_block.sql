-- The block at which the index begins, once it has begun: it does not change any more.
-- params: none
-- literals: none
-- returns: no row while there are no blocks and no bulk backfill; else the number
-- index: chain_pkey, blocks_pkey, bulk_backfill_pkey
SELECT start_block
FROM chain
WHERE EXISTS (SELECT FROM blocks) OR EXISTS (SELECT FROM bulk_backfill);
