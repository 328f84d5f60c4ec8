-- A block's size, for rows from now on: older ones have null until `scan backfill fields` has filled
-- them.
ALTER TABLE IF EXISTS blocks ADD COLUMN IF NOT EXISTS size bigint;
