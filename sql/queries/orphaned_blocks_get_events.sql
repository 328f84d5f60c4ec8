-- The events of an orphaned block, which may take 64 MiB.
-- params: hash bytea
-- literals: none
-- returns: one value: lines `type record` in the order of the block; null: there are none
-- index: orphaned_blocks_pkey
SELECT string_agg(format('%%s %%s', s.key, e.record), E'\n' ORDER BY s.place, e.place)
FROM orphaned_blocks b
CROSS JOIN json_each(b.events) WITH ORDINALITY AS s (key, records, place)
CROSS JOIN json_array_elements(s.records) WITH ORDINALITY AS e (record, place)
WHERE b.hash = %(hash)s;
