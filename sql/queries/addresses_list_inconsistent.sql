-- The tokens whose events do not add up among the first that an address holds, or has less than nothing of.
-- params: address bytea, most integer
-- literals: none
-- returns: one row: index version, tokens bytea[] or null
-- index: token_holders_pkey, tokens_pkey
SELECT index_version(), array_agg(k.address)
FROM (
    (SELECT h.token_address FROM token_holders h WHERE h.holder = %(address)s LIMIT %(most)s)
    UNION ALL
    SELECT u.token_address FROM unnamed_holder(%(address)s) u
) AS h
JOIN tokens k ON k.address = h.token_address AND k.inconsistent_since IS NOT NULL;
