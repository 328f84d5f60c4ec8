-- The first and the last of the indexed blocks that are not stored, though later ones are.
-- params: none
-- returns: two block numbers; no row where there is none, or no block is stored
-- index: bodies_from_pkey, chain_pkey, blocks_pkey
SELECT m.first, f.block_number - 1
FROM bodies_from f
CROSS JOIN (
    SELECT greatest(c.start_block, first_kept_block(), (SELECT min(b.number) FROM blocks b)) AS first
    FROM chain c
) AS m
WHERE m.first < f.block_number;
