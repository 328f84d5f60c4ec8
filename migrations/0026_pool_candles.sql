-- Volumes of pools, which the indexer counts with their candles; `scan backfill candles` adds older trades.
-- schema.sql makes the tables of candles.
ALTER TABLE IF EXISTS pools
    ADD COLUMN IF NOT EXISTS volume0 numeric NOT NULL DEFAULT 0,
    ADD COLUMN IF NOT EXISTS volume1 numeric NOT NULL DEFAULT 0;
