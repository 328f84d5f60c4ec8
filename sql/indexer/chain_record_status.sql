-- Records the node's head, null where it is not known now, whether the node takes block hashes, and the
-- problem that keeps the index from advancing.
-- params: node_head bigint null, problem text null, by_hash boolean null
-- literals: none
-- returns: nothing
-- index: indexer_status_pkey
INSERT INTO indexer_status AS s (node_head, problem, state_by_hash, checked_at)
VALUES (%(node_head)s, %(problem)s, %(by_hash)s, now())
ON CONFLICT (only_row) DO UPDATE
SET node_head = EXCLUDED.node_head, problem = EXCLUDED.problem,
    state_by_hash = coalesce(EXCLUDED.state_by_hash, s.state_by_hash),
    checked_at = EXCLUDED.checked_at;
