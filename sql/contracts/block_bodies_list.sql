-- What is stored of blocks, which is nothing of those without transactions.
-- params: numbers bigint[]
-- literals: none
-- returns: for each of these blocks that is stored its number, its hash, digest and body (null without
--   transactions)
-- index: blocks_pkey, block_bodies_pkey
SELECT b.number, b.hash, s.digest, s.body
FROM unnest(%(numbers)s::bigint[]) AS requested (block_number)
JOIN blocks b ON b.number = requested.block_number
LEFT JOIN block_bodies s ON s.block_number = b.number
WHERE s.block_number IS NOT NULL OR b.transaction_count = 0;
