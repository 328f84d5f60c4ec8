-- The hashes under which blocks are indexed.
-- params: numbers bigint[]
-- literals: none
-- returns: number, hash
-- index: blocks_pkey
SELECT b.number, b.hash FROM blocks b WHERE b.number = ANY (%(numbers)s::bigint[]);
