-- Why blocks are not proven by their hashes, by runs of consecutive blocks with one reason.
-- params: none
-- returns: the newest 20 runs at most, the newest first: first_block, last_block, reason
-- index: blocks_unproven, blocks_pkey
SELECT u.first_block, u.last_block, u.reason
FROM unproven_blocks() u
ORDER BY u.last_block DESC;
