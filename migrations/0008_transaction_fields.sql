-- What transactions and blocks have besides, for rows from now on; nothing is rewritten, and older
-- rows have null until `scan backfill fields` has filled them. Requests lock the two tables in either
-- order: whoever applies this waits for a lock a moment only, so that it gives up before a deadlock.
DO $$
BEGIN
    IF to_regclass('transactions') IS NULL OR EXISTS (SELECT FROM pg_attribute
            WHERE attrelid = to_regclass('transactions') AND attname = 'method') THEN
        RETURN;
    END IF;
    LOCK TABLE blocks, transactions IN ACCESS EXCLUSIVE MODE;
    ALTER TABLE transactions
        ADD COLUMN type bytea,
        ADD COLUMN nonce bytea,
        ADD COLUMN gas_limit bytea,
        ADD COLUMN max_fee_per_gas bytea,
        ADD COLUMN max_priority_fee_per_gas bytea,
        ADD COLUMN max_fee_per_blob_gas bytea,
        ADD COLUMN cumulative_gas_used bytea,
        ADD COLUMN method bytea,
        ADD COLUMN blob_versioned_hashes bytea[];
    ALTER TABLE blocks ADD COLUMN base_fee_per_gas numeric(78, 0);
END
$$;
