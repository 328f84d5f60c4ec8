-- The position after all indexed events.
-- params: none
-- literals: none
-- returns: no row when nothing is indexed; else number and hash of the newest block, how many events
--   it has, and the version of the index
-- index: blocks_pkey, chain_pkey, label_state_pkey
SELECT b.number, b.hash, s.events, index_version()
FROM blocks b
CROSS JOIN block_sections(b) s
ORDER BY b.number DESC
LIMIT 1;
