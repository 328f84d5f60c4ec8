-- Records the node's head and whether it takes block hashes, or the problem that keeps the index from
-- advancing.
-- params: node_head bigint null, problem text null, by_hash boolean null
-- literals: none
-- returns: nothing
-- index: indexer_status_pkey
INSERT INTO indexer_status AS s (node_head, problem, state_by_hash, checked_at)
VALUES (%(node_head)s, %(problem)s, %(by_hash)s, now())
ON CONFLICT (only_row) DO UPDATE
SET node_head = coalesce(EXCLUDED.node_head, s.node_head), problem = EXCLUDED.problem,
    state_by_hash = coalesce(EXCLUDED.state_by_hash, s.state_by_hash),
    checked_at = EXCLUDED.checked_at;
