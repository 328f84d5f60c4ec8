-- Puts the internal transfers of the filled blocks, and of all blocks after the first of them, into a table
-- in the chain's order, as their ordinals have no gaps.
-- params: none
-- returns: the first ordinal of these, and how many they are; no row where no block is filled
-- index: blocks_pkey, internal_transfers_pkey
WITH first_filled AS (
    SELECT min(b.internal_transfers_before) AS ordinal
    FROM filled_blocks f
    JOIN blocks b ON b.number = f.block_number
), kept AS (
    INSERT INTO new_internal_transfers
    SELECT i.*
    FROM internal_transfers i
    WHERE i.ordinal >= (SELECT ordinal FROM first_filled)
        AND NOT EXISTS (SELECT FROM filled_blocks f WHERE f.block_number = i.block_number)
    RETURNING 1
)
SELECT o.ordinal, (SELECT count(*) FROM new_internal_transfers) + (SELECT count(*) FROM kept)
FROM first_filled o
WHERE o.ordinal IS NOT NULL;
