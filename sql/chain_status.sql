-- How far the index is behind the node, for /readyz.
-- params: none
-- returns: one row, the body as JSON text
-- index: blocks_pkey
SELECT json_build_object(
    'status', 'ready',
    'indexedBlock', head.number,
    'headBlock', greatest(c.node_head, head.number),
    'lagBlocks', greatest(c.node_head - coalesce(head.number, c.start_block - 1), 0),
    'problem', c.problem,
    'checkedAt', iso(c.checked_at))::text
FROM (SELECT 1) AS always
LEFT JOIN chain c ON true
LEFT JOIN (SELECT number FROM blocks ORDER BY number DESC LIMIT 1) AS head ON true;
