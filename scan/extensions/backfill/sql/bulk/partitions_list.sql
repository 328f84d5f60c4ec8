-- The partitions of a table, in the order of their ordinals.
-- params: table text
-- returns: name, first ordinal, bound: the first ordinal after it; no rows of a plain table
-- index: none
SELECT p.oid::regclass::text,
    substring(b.bounds FROM 'FROM \(''?([0-9]+)')::bigint,
    substring(b.bounds FROM 'TO \(''?([0-9]+)')::bigint
FROM pg_inherits i
JOIN pg_class p ON p.oid = i.inhrelid
CROSS JOIN LATERAL pg_get_expr(p.relpartbound, p.oid) AS b (bounds)
WHERE i.inhparent = to_regclass(%(table)s)
ORDER BY 2;
