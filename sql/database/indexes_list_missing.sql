-- The indexes among these names that existing tables lack, or have only from an interrupted build.
-- params: names text[], tables text[]
-- returns: rows: name, whether there is the rest of such a build, whether the table is partitioned
-- index: none
SELECT expected.name, i.indexrelid IS NOT NULL, c.relkind = 'p'
FROM unnest(%(names)s::text[], %(tables)s::text[]) AS expected(name, table_name)
JOIN pg_class c ON c.oid = to_regclass(expected.table_name)
LEFT JOIN pg_index i ON i.indexrelid = to_regclass(expected.name)
WHERE i.indisvalid IS NOT TRUE
ORDER BY expected.name;
