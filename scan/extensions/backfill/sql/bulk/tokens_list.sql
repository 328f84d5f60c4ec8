-- Tokens with their types, and the log from which on each is one.
-- params: none
-- returns: address, type, item_type, wraps_since, block number and log index of its first event
-- index: none
SELECT k.address, k.type, k.item_type, k.wraps_since, k.block_number, k.log_index FROM tokens k;
