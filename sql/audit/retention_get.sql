-- The blocks whose rows are not removed, where older ones are.
-- params: none
-- returns: no row where all rows are there; the first block, its block_range as text
-- index: blocks_pkey
SELECT removed_to, blocks_not_removed()::text FROM retention;
