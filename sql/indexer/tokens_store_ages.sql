-- Stores since which blocks tokens have their texts, where that was found: null of those of its creation.
-- params: addresses bytea[], are_found boolean[], names_since bigint[], symbols_since bigint[]
-- literals: none
-- returns: nothing
-- index: tokens_pkey
UPDATE tokens k
SET dated = a.is_found,
    name_since = CASE WHEN a.is_found THEN a.name_since ELSE k.name_since END,
    symbol_since = CASE WHEN a.is_found THEN a.symbol_since ELSE k.symbol_since END
FROM unnest(%(addresses)s::bytea[], %(are_found)s::boolean[], %(names_since)s::bigint[], %(symbols_since)s::bigint[])
    AS a (address, is_found, name_since, symbol_since)
WHERE k.address = a.address;
