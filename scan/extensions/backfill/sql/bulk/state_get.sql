-- The bulk backfill that was begun and is not accepted yet.
-- params: none
-- returns: no row when there is none; else folder, first_block, last_block, range_blocks, stage,
--   inspected_to (null: none), loaded (text[])
-- index: bulk_backfill_pkey
SELECT folder, first_block, last_block, range_blocks, stage, inspected_to, loaded
FROM bulk_backfill;
