-- Uncles that a range of blocks includes, in the chain's order.
-- params: columns identifiers, block_from bigint, block_to bigint
-- returns: the columns, which are those of its kind in parquet.py
-- index: uncles_pkey
SELECT %(columns)s
FROM uncles u
WHERE u.ordinal BETWEEN first_ordinal_in(%(block_from)s) AND last_ordinal_in(%(block_to)s)
ORDER BY u.ordinal;
