-- Records the node's head, or why the index does not advance.
-- params: node_head bigint null, problem text null
-- returns: nothing
-- index: indexer_status_pkey
INSERT INTO indexer_status AS s (node_head, problem, checked_at)
VALUES (%(node_head)s, %(problem)s, now())
ON CONFLICT (only_row) DO UPDATE
SET node_head = coalesce(EXCLUDED.node_head, s.node_head), problem = EXCLUDED.problem,
    checked_at = EXCLUDED.checked_at;
