-- The chain that this database holds.
-- params: none
-- returns: no row before the first block; else chain_id, genesis_hash, the block that a development node forks
--   or null, whether the node is one for development, start_block, stored_logs, followed_version
-- index: chain_pkey
SELECT chain_id, genesis_hash, fork_block, is_development, start_block, stored_logs, followed_version FROM chain;
