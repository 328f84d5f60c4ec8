-- The chain that this database holds.
-- params: none
-- returns: no row before the first block; else chain_id, genesis_hash, start_block, stored_logs,
--   followed_version
-- index: chain_pkey
SELECT chain_id, genesis_hash, start_block, stored_logs, followed_version FROM chain;
