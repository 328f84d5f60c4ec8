-- Deletes the items that were moved for the first time in blocks about to be deleted.
-- params: span block_range
-- returns: nothing
-- index: token_transfers_pkey, token_items_pkey
DELETE FROM token_items i
USING token_transfers x
WHERE x.ordinal BETWEEN (%(span)s::block_range).first_transfer AND (%(span)s::block_range).last_transfer AND x.token_id IS NOT NULL
    AND i.token_address = x.token_address AND i.first_ordinal = x.ordinal;
