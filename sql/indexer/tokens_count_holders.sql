-- Adds to how many hold tokens, and how many are below zero.
-- params: tokens bytea[], holders bigint[], negative_holders bigint[]
-- returns: nothing
-- index: tokens_pkey
UPDATE tokens k
SET holder_count = k.holder_count + c.holders,
    negative_holder_count = k.negative_holder_count + c.negative_holders
FROM unnest(%(tokens)s::bytea[], %(holders)s::bigint[], %(negative_holders)s::bigint[])
    AS c (address, holders, negative_holders)
WHERE k.address = c.address AND (c.holders <> 0 OR c.negative_holders <> 0);
