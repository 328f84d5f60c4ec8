-- The tables among these that lack rows of indexed blocks, as their extensions were off then.
-- params: tables text[]
-- literals: none
-- returns: name, and the block from which on it has the rows of all blocks
-- index: filled_tables_pkey, blocks_pkey
SELECT t.name, coalesce(f.first_block, (SELECT max(b.number) + 1 FROM blocks b))
FROM unnest(%(tables)s::text[]) AS t (name)
CROSS JOIN chain c
LEFT JOIN filled_tables f ON f.name = t.name
WHERE coalesce(f.first_block > c.start_block, EXISTS (SELECT FROM blocks))
ORDER BY t.name;
