-- The hashes of indexed blocks.
-- params: numbers bigint[]
-- literals: none
-- returns: rows: number, hash
-- index: blocks_pkey
SELECT b.number, b.hash FROM blocks b WHERE b.number = ANY (%(numbers)s);
