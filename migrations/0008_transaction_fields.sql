-- What transactions and blocks have besides, for rows from now on; nothing is rewritten, and older
-- rows have null until `scan backfill fields` has filled them.
ALTER TABLE IF EXISTS transactions
    ADD COLUMN IF NOT EXISTS type bytea,
    ADD COLUMN IF NOT EXISTS nonce bytea,
    ADD COLUMN IF NOT EXISTS gas_limit bytea,
    ADD COLUMN IF NOT EXISTS max_fee_per_gas bytea,
    ADD COLUMN IF NOT EXISTS max_priority_fee_per_gas bytea,
    ADD COLUMN IF NOT EXISTS max_fee_per_blob_gas bytea,
    ADD COLUMN IF NOT EXISTS cumulative_gas_used bytea,
    ADD COLUMN IF NOT EXISTS method bytea,
    ADD COLUMN IF NOT EXISTS blob_versioned_hashes bytea[];
ALTER TABLE IF EXISTS blocks ADD COLUMN IF NOT EXISTS base_fee_per_gas numeric(78, 0);
