-- Makes the partition of block_bodies, whose ordinals are numbers of blocks, from the first block of an empty
-- index to the oldest partition: a development node may fork an older block than before.
-- params: none
-- returns: at most one row without a value
-- index: chain_pkey, blocks_pkey
SELECT add_partition('block_bodies', c.start_block, oldest.first)
FROM chain c
CROSS JOIN (
    SELECT min(substring(pg_get_expr(p.relpartbound, p.oid) FROM 'FROM \(''?([0-9]+)')::bigint) AS first
    FROM pg_inherits i
    JOIN pg_class p ON p.oid = i.inhrelid
    WHERE i.inhparent = to_regclass('block_bodies')
) AS oldest
WHERE c.start_block < oldest.first AND NOT EXISTS (SELECT FROM blocks);
