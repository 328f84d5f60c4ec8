-- The partitions that have no part of an index of their table, and the name that the part gets.
-- params: index text, table text
-- returns: rows: partition, name of its part, is_interrupted boolean null: null without such an index,
--   true where its build was interrupted
-- index: none
SELECT p.oid::regclass::text, n.name, NOT x.indisvalid
FROM pg_inherits i
JOIN pg_class p ON p.oid = i.inhrelid
CROSS JOIN LATERAL (SELECT %(index)s || substr(p.relname, length(%(table)s) + 1) AS name) AS n
LEFT JOIN pg_index x ON x.indexrelid = to_regclass(n.name)
WHERE i.inhparent = to_regclass(%(table)s)
    AND NOT EXISTS (
        SELECT FROM pg_index part
        JOIN pg_inherits attached ON attached.inhrelid = part.indexrelid
        WHERE part.indrelid = p.oid AND attached.inhparent = to_regclass(%(index)s)
    )
ORDER BY p.oid;
