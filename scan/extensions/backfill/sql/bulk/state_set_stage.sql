-- Stores the stage that a bulk backfill is in.
-- params: stage text
-- returns: nothing
-- index: bulk_backfill_pkey
UPDATE bulk_backfill SET stage = %(stage)s;
