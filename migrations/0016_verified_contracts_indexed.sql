-- Verifications of code that no longer stands at its address, which lists leave out.
ALTER TABLE IF EXISTS verified_contracts
    ADD COLUMN IF NOT EXISTS is_indexed boolean NOT NULL DEFAULT true;
DROP INDEX IF EXISTS verified_contracts_by_time;
-- commit
DO $$
BEGIN
    IF to_regclass('verified_contracts') IS NOT NULL THEN
        UPDATE verified_contracts v
        SET is_indexed = false
        WHERE v.is_indexed AND v.code_hash IS DISTINCT FROM (
            SELECT c.code_hash
            FROM contracts c
            WHERE c.address = v.address
            ORDER BY c.block_number DESC
            LIMIT 1);
    END IF;
END
$$;
