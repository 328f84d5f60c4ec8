-- Notes from which block on bodies are stored: where they were not before, from the next one on.
-- params: is_stored boolean
-- returns: nothing
-- index: bodies_from_pkey, chain_pkey, blocks_pkey
WITH ended AS (
    DELETE FROM bodies_from WHERE NOT %(is_stored)s
)
INSERT INTO bodies_from (block_number)
SELECT coalesce((SELECT max(b.number) + 1 FROM blocks b), c.start_block)
FROM chain c
WHERE %(is_stored)s
ON CONFLICT (only_row) DO UPDATE
SET block_number = EXCLUDED.block_number
WHERE NOT EXISTS (SELECT FROM blocks);
