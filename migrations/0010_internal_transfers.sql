-- Internal transfers and withdrawals. Blocks written before count as not traced: index anew to have
-- their internal transfers, too. No table is rewritten.
ALTER TABLE IF EXISTS blocks
    ADD COLUMN IF NOT EXISTS internal_transfers_before bigint NOT NULL DEFAULT 0,
    ADD COLUMN IF NOT EXISTS internal_transfer_count integer NOT NULL DEFAULT 0,
    ADD COLUMN IF NOT EXISTS withdrawal_count integer,
    ADD COLUMN IF NOT EXISTS traced boolean DEFAULT false,
    ADD COLUMN IF NOT EXISTS traced_before bigint,
    ADD COLUMN IF NOT EXISTS untraced_before bigint;
ALTER TABLE IF EXISTS addresses
    ADD COLUMN IF NOT EXISTS internal_count bigint NOT NULL DEFAULT 0,
    ADD COLUMN IF NOT EXISTS internal_sent_count bigint NOT NULL DEFAULT 0,
    ADD COLUMN IF NOT EXISTS internal_received_count bigint NOT NULL DEFAULT 0;
