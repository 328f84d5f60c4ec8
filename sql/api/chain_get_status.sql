-- How far the index is behind the node, for /readyz. An indexer that lives notes something at
-- least every two minutes, unless a node has asked it to wait longer, which is a problem it told.
-- params: none
-- returns: one row, the body as JSON text
-- index: blocks_pkey
SELECT json_build_object(
    'status', 'ready',
    'indexedBlock', head.number,
    'headBlock', greatest(s.node_head, head.number),
    'lagBlocks', greatest(s.node_head - coalesce(head.number, c.start_block - 1), 0),
    'problem', coalesce(s.problem, CASE WHEN s.checked_at < now() - interval '2 minutes'
        THEN 'the indexer has not been heard of since ' || iso(s.checked_at) END),
    'checkedAt', iso(s.checked_at))::text
FROM (SELECT 1) AS always
LEFT JOIN chain c ON true
LEFT JOIN indexer_status s ON true
LEFT JOIN (SELECT number FROM blocks ORDER BY number DESC LIMIT 1) AS head ON true;
