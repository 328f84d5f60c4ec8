-- Deletes the items that were moved for the first time in blocks about to be deleted.
-- params: first_transfer bigint, last_transfer bigint
-- returns: nothing
-- index: token_transfers_pkey, token_items_pkey
DELETE FROM token_items i
USING token_transfers x
WHERE x.ordinal BETWEEN %(first_transfer)s AND %(last_transfer)s AND x.token_id IS NOT NULL
    AND i.token_address = x.token_address AND i.first_ordinal = x.ordinal;
