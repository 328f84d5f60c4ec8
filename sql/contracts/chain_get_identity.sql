-- The identity of the indexed chain. Before it has a block or a bulk backfill, that of a node that was wrong may
-- still be corrected.
-- params: none
-- returns: no row where nothing is indexed; else chain_id, genesis_hash, whether it is a development node's fork, and
--   whether it is a development node's
-- index: chain_pkey, blocks_pkey, bulk_backfill_pkey
SELECT chain_id, genesis_hash, fork_block IS NOT NULL, is_development
FROM chain
WHERE EXISTS (SELECT FROM blocks) OR EXISTS (SELECT FROM bulk_backfill);
