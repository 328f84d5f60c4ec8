-- Credits of a range of blocks, in the chain's order.
-- params: columns identifiers, block_from bigint, block_to bigint
-- returns: the columns, which are those of its kind in parquet.py
-- index: credits_pkey
SELECT %(columns)s
FROM credits c
WHERE c.ordinal BETWEEN first_ordinal_in(%(block_from)s) AND last_ordinal_in(%(block_to)s)
ORDER BY c.ordinal;
