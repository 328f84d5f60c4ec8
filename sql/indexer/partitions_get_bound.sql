-- The first ordinal after the newest partition of a long table. Without one it is 0, and for block_bodies, whose
-- ordinals are numbers of blocks, the first block whose rows are kept.
-- params: table text
-- returns: one row: bigint
-- index: chain_pkey
SELECT coalesce(
    max(substring(pg_get_expr(p.relpartbound, p.oid) FROM 'TO \(''?([0-9]+)')::bigint),
    CASE WHEN %(table)s = 'block_bodies' THEN
        (SELECT greatest(c.start_block, first_kept_block()) FROM chain c) END,
    0)
FROM pg_inherits i
JOIN pg_class p ON p.oid = i.inhrelid
WHERE i.inhparent = to_regclass(%(table)s);
