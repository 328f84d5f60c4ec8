-- Blocks of a range, in the chain's order.
-- params: columns identifiers, block_from bigint, block_to bigint
-- returns: the columns, which are those of its kind in parquet.py
-- index: blocks_pkey
SELECT %(columns)s
FROM blocks b
CROSS JOIN LATERAL (SELECT extract(epoch FROM b.timestamp)::bigint AS timestamp_s) AS t
WHERE b.number BETWEEN %(block_from)s AND %(block_to)s
ORDER BY b.number;
