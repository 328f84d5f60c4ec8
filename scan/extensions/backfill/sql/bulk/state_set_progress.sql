-- Stores the progress of a bulk backfill, for /readyz.
-- params: progress double precision, seconds_left bigint null
-- returns: nothing
-- index: bulk_backfill_pkey
UPDATE bulk_backfill
SET progress = %(progress)s::double precision, seconds_left = %(seconds_left)s::bigint;
