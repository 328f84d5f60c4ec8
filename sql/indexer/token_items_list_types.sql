-- The types of the items that were moved in blocks already written.
-- params: first_transfer bigint, last_transfer bigint
-- literals: none
-- returns: type
-- index: token_transfers_pkey, tokens_pkey
SELECT DISTINCT coalesce(k.item_type, k.type)
FROM tokens k
WHERE k.address IN (
    SELECT x.token_address
    FROM token_transfers x
    WHERE x.ordinal BETWEEN %(first_transfer)s AND %(last_transfer)s AND x.token_id IS NOT NULL);
