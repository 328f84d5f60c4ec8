-- The hash under which a block is indexed.
-- params: number bigint
-- returns: no row, or the hash
-- index: blocks_pkey
SELECT hash FROM blocks WHERE number = %(number)s;
