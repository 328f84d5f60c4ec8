-- The mean interval of the newest 100 blocks.
-- params: none
-- literals: none
-- returns: one row: index version, number of the newest block (null: none), seconds from one to the next (null: one block)
-- index: blocks_pkey
SELECT index_version(), max(newest.number),
    (extract(epoch FROM max(newest.timestamp) - min(newest.timestamp))
        / nullif(max(newest.number) - min(newest.number), 0))::float
FROM (SELECT b.number, b.timestamp FROM blocks b ORDER BY b.number DESC LIMIT 100) AS newest;
