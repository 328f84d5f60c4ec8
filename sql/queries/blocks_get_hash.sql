-- The hash of a block. If a node has the same one, it has the same chain up to this block as the index.
-- params: number bigint
-- literals: none
-- returns: one row: index version, hash (null where it is not indexed)
-- index: blocks_pkey
SELECT index_version(), (SELECT b.hash FROM blocks b WHERE b.number = %(number)s);
