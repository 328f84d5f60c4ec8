-- The ordinal of an item's first transfer, by which lists of items are ordered.
-- params: address bytea, token_id numeric
-- literals: none
-- returns: one row: index version, ordinal (null: it was never moved)
-- index: token_transfers_by_item
SELECT index_version(), (
    SELECT min(x.ordinal)
    FROM token_transfers x
    WHERE x.token_address = %(address)s AND x.token_id = %(token_id)s);
