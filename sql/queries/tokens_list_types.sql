-- The types of what a token moves, in all its lives.
-- params: address bytea
-- literals: none
-- returns: one row: index version, the types or null
-- index: tokens_pkey
SELECT index_version(), array_agg(DISTINCT m.type)
FROM tokens k
CROSS JOIN token_lives(k) AS l
CROSS JOIN unnest(ARRAY[l.type, l.item_type]) AS m (type)
WHERE k.address = %(address)s AND m.type IS NOT NULL;
