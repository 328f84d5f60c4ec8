-- Begins a bulk backfill.
-- params: folder text, first_block bigint, last_block bigint, range_blocks integer
-- returns: nothing
-- index: bulk_backfill_pkey
INSERT INTO bulk_backfill (folder, first_block, last_block, range_blocks, stage)
VALUES (%(folder)s, %(first_block)s, %(last_block)s, %(range_blocks)s, 'spool');
