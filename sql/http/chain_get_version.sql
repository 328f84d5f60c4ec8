-- The two summands of index_version(), each of which is announced apart on the channel scan_chain.
-- params: none
-- returns: one row: the chain's version, the labels' version
-- index: chain_pkey, label_state_pkey
SELECT coalesce((SELECT version FROM chain), 0), coalesce((SELECT version FROM label_state), 0);
