-- The newest block of the primary, with which an instance that reads a replica compares its own.
-- params: none
-- returns: no row before the first block, or: number of the newest block, that of the node's head or null
-- index: blocks_pkey
SELECT p.head, p.node_head
FROM index_progress() p
WHERE p.head IS NOT NULL;
