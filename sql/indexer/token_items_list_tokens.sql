-- The tokens whose items were moved in blocks already written.
-- params: first_transfer bigint, last_transfer bigint
-- returns: address, type
-- index: token_transfers_pkey, tokens_pkey
SELECT moved.token_address, (SELECT k.type FROM tokens k WHERE k.address = moved.token_address)
FROM (
    SELECT DISTINCT token_address
    FROM token_transfers
    WHERE ordinal BETWEEN %(first_transfer)s AND %(last_transfer)s AND token_id IS NOT NULL
) AS moved;
