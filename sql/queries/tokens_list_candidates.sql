-- Those who may be the largest holders of a token whose events do not add up: the largest and the smallest by
-- events, itself, and others who may have a balance without any event.
-- params: address bytea, largest integer, smallest integer, others bytea[]
-- literals: none
-- returns: one row: index version, holders bytea[] and their balances by events numeric[], or nulls, and how
--   many hold something by events
-- index: token_holders_by_balance, token_holders_pkey, tokens_pkey
SELECT index_version(), array_agg(h.holder), array_agg(h.balance),
    (SELECT k.holder_count FROM tokens k WHERE k.address = %(address)s)
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
    FROM unnest(%(others)s::bytea[]) AS o (address)
    WHERE NOT EXISTS (SELECT FROM token_holders h WHERE h.holder = o.address AND h.token_address = %(address)s)
) AS h;
