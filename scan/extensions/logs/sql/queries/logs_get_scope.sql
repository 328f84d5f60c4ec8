-- The stored logs and indexed blocks, which a request for logs may be answered from.
-- params: topic0 bytea null
-- literals: none
-- returns: one row: index version, stored logs or null, the number of the first topic or null, oldest
--   and newest indexed block or null, first block from which on blocks are stored whole or null
-- index: chain_pkey, event_topics_topic0_key, blocks_pkey, bodies_from_pkey
SELECT index_version(), (SELECT c.stored_logs FROM chain c),
    (SELECT e.topic_id FROM event_topics e WHERE e.topic0 = %(topic0)s),
    (SELECT min(b.number) FROM blocks b), (SELECT max(b.number) FROM blocks b),
    (SELECT f.block_number FROM bodies_from f);
