-- The hash of a block, by which a node and the index are known to have the same chain up to it.
-- params: number bigint
-- literals: none
-- returns: one row: index version, hash (null where it is not indexed)
-- index: blocks_pkey
SELECT index_version(), (SELECT b.hash FROM blocks b WHERE b.number = %(number)s);
