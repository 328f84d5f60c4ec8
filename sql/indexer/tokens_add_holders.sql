-- Adds to the tokens' numbers of holders, and to what holders hold together.
-- params: tokens bytea[], holders bigint[], held numeric[], large bigint
-- literals: none
-- returns: one token that now has `large` holders or more, which are not counted by range yet; or no row
-- index: tokens_pkey, token_holder_ranges_pkey
WITH changed AS (
    UPDATE tokens k
    SET holder_count = k.holder_count + c.holders,
        held_supply = k.held_supply + c.held
    FROM unnest(%(tokens)s::bytea[], %(holders)s::bigint[], %(held)s::numeric[])
        AS c (address, holders, held)
    WHERE k.address = c.address
        AND (c.holders <> 0 OR c.held <> 0)
    RETURNING k.address, k.holder_count
)
SELECT address
FROM changed
WHERE holder_count >= %(large)s
    AND NOT EXISTS (SELECT FROM token_holder_ranges r WHERE r.token_address = changed.address)
LIMIT 1;
