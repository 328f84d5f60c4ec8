-- Checkpoints that are missing, too many, or elsewhere than their entry.
-- params: most integer
-- returns: list, key and ordinal, what is stored or null, what is expected or null, how many
-- index: none
SELECT list || ' of ' || hex(key) || ' at ' || ordinal,
    to_jsonb(c) - 'list' - 'key' - 'ordinal', to_jsonb(e) - 'list' - 'key' - 'ordinal',
    count(*) OVER ()
FROM list_checkpoints c
FULL JOIN expected_list_checkpoints e USING (list, key, ordinal)
WHERE (c.block_number, c.position, c.batch_index)
    IS DISTINCT FROM (e.block_number, e.position, e.batch_index)
ORDER BY list, key, ordinal
LIMIT %(most)s;
