-- Of some tokens, those that are marked: their balances are the node's.
-- params: tokens bytea[]
-- literals: none
-- returns: one row: index version, these tokens bytea[], since which block their events do not add up bigint[], number
--   and hash of the newest block; nulls where there is none
-- index: tokens_pkey, blocks_pkey
SELECT index_version(), array_agg(k.address), array_agg(marked_since(k)), newest.number, newest.hash
FROM (SELECT) AS always
LEFT JOIN tokens k ON k.address = ANY (%(tokens)s::bytea[]) AND is_marked(k)
LEFT JOIN (SELECT b.number, b.hash FROM blocks b ORDER BY b.number DESC LIMIT 1) AS newest ON true
GROUP BY newest.number, newest.hash;
