-- Counters change in place, which needs room in the pages and no index on what says "to be found".
ALTER TABLE tokens SET (fillfactor = 60);
ALTER TABLE addresses SET (fillfactor = 80);
ALTER TABLE addresses ADD COLUMN IF NOT EXISTS unwound boolean NOT NULL DEFAULT false;
ALTER TABLE addresses ALTER COLUMN last_seen SET NOT NULL;
DROP INDEX IF EXISTS addresses_unwound;
