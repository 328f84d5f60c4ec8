-- Whether texts look like others, each like that in its place.
-- params: texts text[], others text[]
-- literals: none
-- returns: a boolean for each, in their order
-- index: none
SELECT skeleton(t.own) = skeleton(t.other)
FROM unnest(%(texts)s::text[], %(others)s::text[]) WITH ORDINALITY AS t (own, other, place)
ORDER BY t.place;
