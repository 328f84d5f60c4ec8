-- Lists blocks that were indexed without traces, and whose traces `scan backfill traces` has not read. Those
-- that it read of a block which a fork replaced since do not count.
-- params: after bigint, most integer
-- returns: number, hash
-- index: blocks_pkey, trace_backfill_pkey
SELECT b.number, b.hash
FROM blocks b
LEFT JOIN trace_backfill t ON t.block_number = b.number AND t.hash = b.hash
WHERE b.number > %(after)s AND b.traced IS FALSE AND t.hash IS NULL
ORDER BY b.number
LIMIT %(most)s;
