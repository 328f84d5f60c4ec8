-- How many blocks are not proven by their hashes.
-- params: none
-- returns: one row: their number
-- index: blocks_pkey
SELECT unproven_block_count();
