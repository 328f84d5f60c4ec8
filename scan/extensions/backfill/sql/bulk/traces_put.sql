-- Keeps the rows of traced blocks until all blocks are read.
-- params: numbers bigint[], hashes bytea[], rows text[]
-- returns: nothing
-- index: trace_backfill_pkey
INSERT INTO trace_backfill (block_number, hash, rows)
SELECT n.block_number, n.hash, n.rows::json
FROM unnest(%(numbers)s::bigint[], %(hashes)s::bytea[], %(rows)s::text[]) AS n (block_number, hash, rows)
ON CONFLICT (block_number) DO UPDATE SET hash = EXCLUDED.hash, rows = EXCLUDED.rows;
