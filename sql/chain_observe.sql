-- Notes what the node said last, or why nothing can be read from it.
-- params: node_head bigint null, problem text null
-- returns: nothing
-- index: chain_pkey
UPDATE chain
SET node_head = coalesce(%(node_head)s, node_head), problem = %(problem)s, checked_at = now();
