-- Stores the counters of tokens; as indexer/counters_derive, a transfer makes the supply stale.
-- params: none
-- returns: nothing
-- index: tokens_pkey
UPDATE tokens k
SET holder_count = c.holder_count, negative_holder_count = c.negative_holder_count,
    transfer_count = c.transfer_count, held_supply = c.held_supply, item_count = c.item_count,
    supply_block = NULL
FROM token_counts c
WHERE c.address = k.address;
