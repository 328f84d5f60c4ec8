-- Of some tokens, those whose events do not add up to what they answer, or which are older than the index.
-- params: tokens bytea[]
-- literals: none
-- returns: one row: index version, these tokens bytea[], since which block bigint[], number and hash of the newest
--   block; nulls where there is none
-- index: tokens_pkey, blocks_pkey
SELECT index_version(), array_agg(k.address), array_agg(k.inconsistent_since), newest.number, newest.hash
FROM (SELECT) AS always
LEFT JOIN tokens k ON k.address = ANY (%(tokens)s::bytea[]) AND k.inconsistent_since IS NOT NULL
LEFT JOIN (SELECT b.number, b.hash FROM blocks b ORDER BY b.number DESC LIMIT 1) AS newest ON true
GROUP BY newest.number, newest.hash;
