-- How far a long table is partitioned. `bound` is the first ordinal after its newest partition; of a plain
-- table the first that its constraint <table>_bound refuses, null without one.
-- params: table text
-- returns: one row: is_partitioned boolean, bound bigint null, whether that constraint is validated
-- index: none
SELECT c.relkind = 'p',
    CASE WHEN c.relkind = 'p' THEN (
        SELECT max(substring(pg_get_expr(p.relpartbound, p.oid) FROM 'TO \(''?([0-9]+)')::bigint)
        FROM pg_inherits i
        JOIN pg_class p ON p.oid = i.inhrelid
        WHERE i.inhparent = c.oid
    ) ELSE substring(pg_get_constraintdef(k.oid) FROM 'ordinal < ''?([0-9]+)')::bigint END,
    coalesce(k.convalidated, false)
FROM pg_class c
LEFT JOIN pg_constraint k ON k.conrelid = c.oid AND k.conname = %(table)s || '_bound'
WHERE c.oid = to_regclass(%(table)s);
