-- Followed contracts may be all that logs of a factory name (scan events add --children).
ALTER TABLE IF EXISTS followed_contracts ADD COLUMN IF NOT EXISTS factory bytea,
    ADD COLUMN IF NOT EXISTS named_by jsonb;
ALTER TABLE IF EXISTS decoded_events ADD COLUMN IF NOT EXISTS emitter bytea;
