-- Whether a bulk backfill was begun here and is not accepted yet: half of its tables are loaded.
-- params: none
-- returns: boolean
-- index: bulk_backfill_pkey
SELECT EXISTS (SELECT FROM bulk_backfill);
