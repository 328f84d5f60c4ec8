-- Notes the ids of the items that were moved in blocks whose transfers are to be removed, and the last
-- recipient of each.
-- params: span block_range
-- returns: nothing
-- index: token_transfers_pkey, removed_items_pkey
INSERT INTO removed_items (token_address, token_id, first_ordinal, block_number, last_recipient)
SELECT x.token_address, x.token_id, min(x.ordinal), min(x.block_number),
    (array_agg(x.to_address ORDER BY x.ordinal DESC))[1]
FROM token_transfers x
WHERE x.ordinal BETWEEN (%(span)s::block_range).first_transfer AND (%(span)s::block_range).last_transfer
    AND x.token_id IS NOT NULL
GROUP BY x.token_address, x.token_id
ON CONFLICT (token_address, token_id) DO UPDATE SET last_recipient = EXCLUDED.last_recipient;
