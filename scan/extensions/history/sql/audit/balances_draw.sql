-- Addresses drawn at random, with the sum of their rows at the newest block: of each key the first address
-- from it on. Keys are random, and so are nearly all addresses.
-- params: keys bytea[]
-- returns: number and hash of the newest block, address, sum in wei, balance at genesis in wei and whether
--   it is proven (null: not stored)
-- index: addresses_pkey, genesis_balances_pkey, blocks_pkey
SELECT head.number, head.hash, a.address, coalesce(a.net_wei, 0), g.balance, g.is_proven
FROM (SELECT b.number, b.hash FROM blocks b ORDER BY b.number DESC LIMIT 1) AS head
CROSS JOIN (
    SELECT DISTINCT (
        SELECT a.address FROM addresses a WHERE a.address >= k.key ORDER BY a.address LIMIT 1) AS address
    FROM unnest(%(keys)s::bytea[]) AS k (key)
) AS drawn
JOIN addresses a USING (address)
LEFT JOIN genesis_balances g USING (address)
ORDER BY a.address;
