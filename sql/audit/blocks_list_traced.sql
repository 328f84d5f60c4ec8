-- Which blocks have their internal transfers and withdrawals: an older version stored neither.
-- params: block_from bigint, block_to bigint
-- returns: number; whether its traces were read, whether its withdrawals were
-- index: blocks_pkey
SELECT number, traced IS TRUE, withdrawal_count IS NOT NULL
FROM blocks
WHERE number BETWEEN %(block_from)s AND %(block_to)s;
