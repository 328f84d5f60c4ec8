-- How far a bulk backfill is, for /readyz.
ALTER TABLE IF EXISTS bulk_backfill
    ADD COLUMN IF NOT EXISTS progress double precision,
    ADD COLUMN IF NOT EXISTS seconds_left bigint;
