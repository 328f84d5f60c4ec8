-- The mean interval of the newest blocks.
-- params: none
-- literals: none
-- returns: one row: index version, number of the newest block (null: none), seconds from one to the next (null: one block)
-- index: blocks_pkey
SELECT index_version(), (SELECT b.number FROM blocks b ORDER BY b.number DESC LIMIT 1),
    block_interval_s()::float;
