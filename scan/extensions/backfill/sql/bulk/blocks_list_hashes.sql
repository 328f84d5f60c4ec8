-- The hashes by which blocks are indexed.
-- params: block_from bigint, block_to bigint
-- returns: number, hash
-- index: blocks_pkey
SELECT number, hash FROM blocks WHERE number BETWEEN %(block_from)s AND %(block_to)s FOR SHARE;
