-- Those who may be the largest holders of a marked token: the largest and the smallest by events, itself, those
-- whom no sum names, and of one that is reported the addresses that blocks have named last, whose balances of coin were read since.
-- params: address bytea, largest integer, smallest integer
-- literals: none
-- returns: one row: index version, holders bytea[] and their balances by events numeric[], or nulls, how many
--   hold something by events, and whether it is reported, as one is that is not indexed
-- index: token_holders_by_balance, token_holders_pkey, tokens_pkey, unnamed_holders_by_token, addresses_by_balance_block
SELECT index_version(), array_agg(h.holder), array_agg(h.balance),
    coalesce((SELECT k.holder_count FROM tokens k WHERE k.address = %(address)s), 0),
    coalesce((SELECT k.is_reported FROM tokens k WHERE k.address = %(address)s), true)
FROM (
    (
        SELECT h.holder, h.balance
        FROM token_holders h
        WHERE h.token_address = %(address)s AND h.balance > 0
        ORDER BY h.balance DESC, h.holder DESC
        LIMIT %(largest)s
    )
    UNION ALL
    (
        SELECT h.holder, h.balance
        FROM token_holders h
        WHERE h.token_address = %(address)s AND h.balance < 0
        ORDER BY h.balance ASC, h.holder ASC
        LIMIT %(smallest)s
    )
    UNION ALL
    SELECT u.token_address, 0 FROM unnamed_holder(%(address)s) u
    UNION ALL
    SELECT o.address, 0
    FROM (
        (SELECT u.holder FROM unnamed_holders u WHERE u.token_address = %(address)s LIMIT 300)
        UNION
        SELECT n.address
        FROM (
            (SELECT a.address FROM addresses a WHERE a.balance_stale ORDER BY a.balance_block DESC LIMIT 200)
            UNION
            (SELECT a.address FROM addresses a WHERE NOT a.balance_stale ORDER BY a.balance_block DESC LIMIT 200)) AS n
        WHERE (SELECT k.is_reported FROM tokens k WHERE k.address = %(address)s)) AS o (address)
    WHERE NOT EXISTS (SELECT FROM token_holders h WHERE h.holder = o.address AND h.token_address = %(address)s)
) AS h;
