-- Puts every checkpoint where its entry is, and no other.
-- params: none
-- returns: nothing
-- index: list_checkpoints_pkey
WITH gone AS (
    DELETE FROM list_checkpoints c
    WHERE NOT EXISTS (SELECT FROM expected_list_checkpoints e
        WHERE e.list = c.list AND e.key = c.key AND e.ordinal = c.ordinal)
)
INSERT INTO list_checkpoints AS c (list, key, ordinal, block_number, position, batch_index)
SELECT list, key, ordinal, block_number, position, batch_index
FROM expected_list_checkpoints
ON CONFLICT (list, key, ordinal) DO UPDATE SET
    block_number = EXCLUDED.block_number,
    position = EXCLUDED.position,
    batch_index = EXCLUDED.batch_index
WHERE (c.block_number, c.position, c.batch_index)
    IS DISTINCT FROM (EXCLUDED.block_number, EXCLUDED.position, EXCLUDED.batch_index);
