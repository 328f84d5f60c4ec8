-- Ends a bulk backfill, in the transaction that makes its blocks visible.
-- params: none
-- returns: nothing
-- index: bulk_backfill_pkey
DELETE FROM bulk_backfill;
