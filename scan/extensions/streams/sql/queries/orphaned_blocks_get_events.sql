-- The events of an orphaned block, which may take 64 MiB.
-- params: hash bytea
-- literals: none
-- returns: one value: lines `type record` in the order of the block; null: there are none
-- index: orphaned_blocks_pkey
SELECT string_agg(format('%%s %%s', s.key, e.record), E'\n' ORDER BY s.position, e.position)
FROM orphaned_blocks b
CROSS JOIN json_each(b.events) WITH ORDINALITY AS s (key, records, position)
CROSS JOIN json_array_elements(s.records) WITH ORDINALITY AS e (record, position)
WHERE b.hash = %(hash)s;
