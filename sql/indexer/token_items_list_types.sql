-- The types of the items that were moved in blocks already written.
-- params: span block_range
-- literals: none
-- returns: type
-- index: token_transfers_pkey, tokens_pkey
SELECT DISTINCT coalesce(k.item_type, k.type)
FROM tokens k
WHERE k.address IN (
    SELECT x.token_address
    FROM token_transfers x
    WHERE x.ordinal BETWEEN (%(span)s::block_range).first_transfer AND (%(span)s::block_range).last_transfer AND x.token_id IS NOT NULL);
