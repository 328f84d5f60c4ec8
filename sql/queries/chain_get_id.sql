-- The id of the indexed chain. Before it has a block or a bulk backfill, that of a node that was wrong may
-- still be corrected.
-- params: none
-- literals: none
-- returns: no row where nothing is indexed; else the id as text
-- index: chain_pkey, blocks_pkey, bulk_backfill_pkey
SELECT chain_id::text
FROM chain
WHERE EXISTS (SELECT FROM blocks) OR EXISTS (SELECT FROM bulk_backfill);
