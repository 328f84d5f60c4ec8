-- The version of the index, and its newest block.
-- params: none
-- literals: none
-- returns: one row: index version, number of the newest block or null
-- index: chain_pkey, label_state_pkey, blocks_pkey
SELECT index_version(), (SELECT max(b.number) FROM blocks b);
