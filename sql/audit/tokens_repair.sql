-- Makes the counters of tokens what the transfers give.
-- params: none
-- returns: nothing
-- index: tokens_pkey
UPDATE tokens k
SET holder_count = e.holder_count, negative_holder_count = e.negative_holder_count,
    transfer_count = e.transfer_count, held_supply = e.held_supply, item_count = e.item_count
FROM expected_tokens e
WHERE e.address = k.address
    AND (k.holder_count, k.negative_holder_count, k.transfer_count, k.held_supply, k.item_count)
    IS DISTINCT FROM (e.holder_count, e.negative_holder_count, e.transfer_count, e.held_supply,
        e.item_count);
