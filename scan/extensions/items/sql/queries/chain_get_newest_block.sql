-- The newest block, from whose state missing values of lists are read.
-- params: none
-- literals: none
-- returns: one row: index version, number, hash (null where none is indexed)
-- index: blocks_pkey
SELECT index_version(), head.number, head.hash
FROM (SELECT 1) AS always
LEFT JOIN (SELECT b.number, b.hash FROM blocks b ORDER BY b.number DESC LIMIT 1) AS head ON true;
