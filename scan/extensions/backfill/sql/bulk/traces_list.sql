-- Lists the rows of blocks that were read, of those that are to be filled.
-- params: after bigint, most integer
-- returns: number, rows (json)
-- index: trace_backfill_pkey
SELECT t.block_number, t.rows
FROM trace_backfill t
JOIN filled_blocks f ON f.block_number = t.block_number
WHERE t.block_number > %(after)s
ORDER BY t.block_number
LIMIT %(most)s;
