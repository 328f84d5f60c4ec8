-- Begins a bulk backfill anew, with the files that are there.
-- params: none
-- returns: nothing
-- index: bulk_backfill_pkey
UPDATE bulk_backfill SET stage = 'spool', inspected_to = NULL, loaded = '{}';
