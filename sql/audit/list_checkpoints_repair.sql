-- Puts every checkpoint where its entry is, and no other.
-- params: none
-- returns: nothing
-- index: list_checkpoints_pkey
WITH gone AS (
    DELETE FROM list_checkpoints c
    WHERE NOT EXISTS (SELECT FROM expected_list_checkpoints e
        WHERE e.list = c.list AND e.key = c.key AND e.place = c.place)
)
INSERT INTO list_checkpoints AS c (list, key, place, ordinal, block_number)
SELECT list, key, place, ordinal, block_number
FROM expected_list_checkpoints
ON CONFLICT (list, key, place) DO UPDATE SET
    ordinal = EXCLUDED.ordinal,
    block_number = EXCLUDED.block_number
WHERE (c.ordinal, c.block_number) IS DISTINCT FROM (EXCLUDED.ordinal, EXCLUDED.block_number);
