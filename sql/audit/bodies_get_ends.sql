-- The first and the last block of those whose transactions and receipts are stored without a gap.
-- params: none
-- returns: no row where no block is stored; else two block numbers
-- index: bodies_from_pkey, blocks_pkey
SELECT f.first, b.last
FROM (SELECT greatest(block_number, first_kept_block()) AS first FROM bodies_from) AS f
CROSS JOIN (SELECT max(number) AS last FROM blocks) AS b
WHERE f.first <= b.last;
