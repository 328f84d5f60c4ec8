-- The tables of a database of any version, with the columns of each.
-- params: none
-- returns: name of a table, names of its columns, whether it has or had rows
-- index: none
SELECT c.relname, array_agg(a.attname::text ORDER BY a.attnum), pg_relation_size(c.oid) > 0
FROM pg_class c
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relnamespace = current_schema()::regnamespace
GROUP BY c.oid;
