-- The derived tables among these that do not follow from all indexed blocks yet.
-- params: tables text[]
-- returns: their names, in the given order
-- index: filled_tables_pkey
SELECT t.name
FROM unnest(%(tables)s::text[]) WITH ORDINALITY AS t (name, position)
WHERE NOT EXISTS (SELECT FROM filled_tables f WHERE f.name = t.name)
ORDER BY t.position;
