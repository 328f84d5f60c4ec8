-- Why blocks are not proven by their hashes: each reason with the first and the last of its blocks.
-- params: none
-- returns: at most 20 rows: first_block, last_block, reason
-- index: blocks_unproven
SELECT u.first_block, u.last_block, u.reason
FROM unproven_blocks() u
ORDER BY u.first_block, u.reason;
