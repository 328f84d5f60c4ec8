-- The state of the index as numbers for /metrics.
-- params: none
-- returns: one row: head, the node's head, lag, seconds since the head, transactions, whether the
--   head stands still (0 or 1); null before the first block; the number of blocks that are not
--   proven, and the newest of them
-- index: blocks_pkey, blocks_unproven
SELECT head.number,
    greatest(s.node_head, head.number),
    greatest(s.node_head - coalesce(head.number, c.start_block - 1), 0),
    extract(epoch FROM now() - head.timestamp),
    head.transactions_before + head.transaction_count,
    (s.problem IS NOT NULL)::integer,
    unproven_block_count(),
    (SELECT max(u.last_block) FROM unproven_blocks() u)
FROM (SELECT 1) AS always
LEFT JOIN chain c ON true
LEFT JOIN indexer_status s ON true
LEFT JOIN (SELECT b.number, b.timestamp, b.transactions_before, b.transaction_count
    FROM blocks b ORDER BY b.number DESC LIMIT 1) AS head ON true;
