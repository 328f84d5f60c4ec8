-- Counts the blocks that were indexed without traces.
-- params: none
-- returns: all of them, those whose traces are not read yet
-- index: none
SELECT count(*), count(*) FILTER (WHERE t.hash IS NULL)
FROM blocks b
LEFT JOIN trace_backfill t ON t.block_number = b.number AND t.hash = b.hash
WHERE b.traced IS FALSE;
