-- The newest block of the primary, with which an instance that reads a replica compares its own.
-- params: none
-- returns: no row before the first block, or: number of the newest block, that of the node's head
-- index: blocks_pkey
SELECT head.number, greatest(s.node_head, head.number)
FROM (SELECT b.number FROM blocks b ORDER BY b.number DESC LIMIT 1) AS head
LEFT JOIN indexer_status s ON true;
