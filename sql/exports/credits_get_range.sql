-- Credits of a range of blocks, in the chain's order.
-- params: columns identifiers, block_from bigint, block_to bigint
-- returns: the columns, which are those of its kind in scan/exports/columns.py
-- index: credits_pkey
SELECT %(columns)s
FROM credits c
WHERE c.ordinal BETWEEN credit_ordinal(%(block_from)s) AND credit_ordinal(%(block_to)s) + 1048575
ORDER BY c.ordinal;
