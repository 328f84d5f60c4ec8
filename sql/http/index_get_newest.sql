-- The version of the index, its newest block, and what index_progress() knows of the chain's.
-- params: none
-- literals: none
-- returns: one row: index version, number of the newest block or null, its time or null, the blocks that it is
--   behind the node or null, the age in seconds from which on the chain is quiet or null
-- index: chain_pkey, label_state_pkey, blocks_pkey
SELECT index_version(), p.head, iso(p.head_at), p.lag, p.quiet_after_s
FROM index_progress() p;
