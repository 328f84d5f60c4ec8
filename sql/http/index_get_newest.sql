-- The version of the index, its newest block, and how far the newest blocks are apart.
-- params: none
-- literals: none
-- returns: one row: index version, number of the newest block or null, its time or null, the mean
--   seconds between the newest nine blocks or null
-- index: chain_pkey, label_state_pkey, blocks_pkey
SELECT index_version(), newest.number, newest.timestamp,
    extract(epoch FROM newest.timestamp
        - (SELECT b.timestamp FROM blocks b WHERE b.number = newest.number - 8))::float8 / 8
FROM (SELECT 1) AS always
LEFT JOIN (
    SELECT b.number, b.timestamp FROM blocks b ORDER BY b.number DESC LIMIT 1
) AS newest ON true;
