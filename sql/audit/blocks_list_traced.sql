-- Tells which blocks have their internal transfers.
-- params: block_from bigint, block_to bigint
-- returns: number, whether its traces were read
-- index: blocks_pkey
SELECT number, traced IS TRUE
FROM blocks
WHERE number BETWEEN %(block_from)s AND %(block_to)s;
