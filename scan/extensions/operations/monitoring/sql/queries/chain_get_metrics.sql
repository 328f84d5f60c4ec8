-- The state of the index as numbers for /metrics.
-- params: none
-- returns: one row: head, the node's head, lag, seconds since the head, those from which on the chain is
--   quiet or infinity, transactions, whether indexing stands still (0 or 1), by a problem or since the indexer has not reported for two minutes;
--   the number of blocks that are not proven, and the newest of them. What is not known is null
-- index: blocks_pkey, blocks_unproven
SELECT p.head, p.node_head, p.lag, extract(epoch FROM now() - p.head_at), coalesce(p.quiet_after_s, 'Infinity'),
    head.transactions_before + head.transaction_count,
    ((s.problem IS NOT NULL AND p.lag IS DISTINCT FROM 0) OR s.checked_at < now() - interval '2 minutes')::integer,
    unproven_block_count(),
    (SELECT max(u.last_block) FROM unproven_blocks() u)
FROM index_progress() p
LEFT JOIN indexer_status s ON true
LEFT JOIN blocks head ON head.number = p.head;
