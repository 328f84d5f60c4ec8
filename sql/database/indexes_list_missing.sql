-- Which of these indexes tables that are there do not have, or have from a build that was interrupted.
-- params: names text[], tables text[]
-- returns: rows: name, whether there is the rest of such a build, whether the table is partitioned
-- index: none
SELECT wanted.name, i.indexrelid IS NOT NULL, c.relkind = 'p'
FROM unnest(%(names)s::text[], %(tables)s::text[]) AS wanted(name, table_name)
JOIN pg_class c ON c.oid = to_regclass(wanted.table_name)
LEFT JOIN pg_index i ON i.indexrelid = to_regclass(wanted.name)
WHERE i.indisvalid IS NOT TRUE
ORDER BY wanted.name;
