-- Tells whether a bulk backfill was begun and is not accepted yet, so that only some of its tables are
-- loaded.
-- params: none
-- returns: boolean
-- index: bulk_backfill_pkey
SELECT EXISTS (SELECT FROM bulk_backfill);
