-- The first ordinal after the newest partition of a long table, 0 without one.
-- params: table text
-- returns: one row: bigint
-- index: none
SELECT coalesce(
    max(substring(pg_get_expr(p.relpartbound, p.oid) FROM 'TO \(''?([0-9]+)')::bigint), 0)
FROM pg_inherits i
JOIN pg_class p ON p.oid = i.inhrelid
WHERE i.inhparent = to_regclass(%(table)s);
