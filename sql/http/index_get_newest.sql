-- The version of the index, and its newest block.
-- params: none
-- literals: none
-- returns: one row: index version, number of the newest block or null, its time or null
-- index: chain_pkey, label_state_pkey, blocks_pkey
SELECT index_version(), newest.number, newest.timestamp
FROM (SELECT 1) AS always
LEFT JOIN (
    SELECT b.number, b.timestamp FROM blocks b ORDER BY b.number DESC LIMIT 1
) AS newest ON true;
