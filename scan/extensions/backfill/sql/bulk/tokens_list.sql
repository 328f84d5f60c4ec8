-- Lives of tokens with their types, and the log from which on each is one.
-- params: none
-- returns: address, type, item_type, wraps_since, block number and log index of its first event, the block before
--   which it ended, whether it is the present one, or the last; ended_in and whether there were others, and holdings,
--   of the present ones
-- index: none
SELECT k.address, l.type, l.item_type, l.wraps_since, l.block_number, l.log_index, l.end_block, l.is_present,
    NULL::bigint AS ended_in, k.earlier_lives IS NOT NULL AS has_lives, k.has_holdings
FROM tokens k
CROSS JOIN token_lives(k) AS l
UNION ALL
SELECT k.address, k.type, k.item_type, k.wraps_since, k.block_number, k.log_index, 0, true, k.ended_in, true,
    k.has_holdings
FROM tokens k
WHERE k.ended_in IS NOT NULL;
