-- Logs are stored where SCAN_LOGS says so, which is settled before the first block: databases of before
-- store none. A webhook may be of logs.
ALTER TABLE IF EXISTS chain
    ADD COLUMN IF NOT EXISTS stored_logs text NOT NULL DEFAULT 'none'
        CONSTRAINT chain_stored_logs CHECK (stored_logs IN ('all', 'none', 'standard'));
ALTER TABLE IF EXISTS blocks
    ADD COLUMN IF NOT EXISTS logs_before bigint NOT NULL DEFAULT 0,
    ADD COLUMN IF NOT EXISTS log_count integer NOT NULL DEFAULT 0;
ALTER TABLE IF EXISTS addresses ADD COLUMN IF NOT EXISTS log_count bigint;
ALTER TABLE IF EXISTS webhooks
    ADD COLUMN IF NOT EXISTS topics json,
    DROP CONSTRAINT IF EXISTS webhooks_event_types_check,
    ADD CONSTRAINT webhooks_event_types_check
        CHECK (event_types <@ '{tx,token_transfer,log}' AND event_types <> '{}');
