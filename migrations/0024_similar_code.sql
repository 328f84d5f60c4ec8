-- What code that is similar to verified code is found by.
ALTER TABLE IF EXISTS verified_contracts
    ADD COLUMN IF NOT EXISTS code_length integer,
    ADD COLUMN IF NOT EXISTS masked_hash bytea,
    ADD COLUMN IF NOT EXISTS variable_ranges text;
