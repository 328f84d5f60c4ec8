-- The ordinal of an item's first transfer, by which lists of items are ordered.
-- params: address bytea, token_id numeric
-- literals: none
-- returns: one row: index version, ordinal (null: it was never moved)
-- index: removed_items_pkey, token_transfers_by_item
SELECT index_version(), first_transfer_of(%(address)s, %(token_id)s);
