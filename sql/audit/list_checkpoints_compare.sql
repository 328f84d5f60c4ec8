-- Checkpoints that are missing, too many, or elsewhere than their entry.
-- params: most integer
-- returns: list, key and place, what is stored or null, what is expected or null, how many
-- index: none
SELECT list || ' of ' || hex(key) || ' at ' || place,
    to_jsonb(c) - 'list' - 'key' - 'place', to_jsonb(e) - 'list' - 'key' - 'place',
    count(*) OVER ()
FROM list_checkpoints c
FULL JOIN expected_list_checkpoints e USING (list, key, place)
WHERE (c.ordinal, c.block_number) IS DISTINCT FROM (e.ordinal, e.block_number)
ORDER BY list, key, place
LIMIT %(most)s;
