-- How many trades each pool has, and every 128th of them: see dex_trades_list_by_key. The indexer of an
-- older release counts none: this waits until it is stopped. schema.sql makes the indexes.
ALTER TABLE IF EXISTS pools ADD COLUMN IF NOT EXISTS trade_count bigint NOT NULL DEFAULT 0;
-- commit
DO $$
BEGIN
    IF to_regclass('pools') IS NULL OR to_regclass('list_checkpoints') IS NULL THEN
        RETURN;
    END IF;
    IF NOT pg_try_advisory_xact_lock(hashtextextended('scan.indexer', 0)) THEN
        RAISE 'an indexer is running' USING ERRCODE = 'lock_not_available',
            HINT = 'An indexer of an older release is running: stop it until the migration is done.';
    END IF;
    UPDATE pools p
    SET trade_count = d.trade_count
    FROM (SELECT pool_address, count(*) AS trade_count FROM dex_trades GROUP BY pool_address) AS d
    WHERE p.address = d.pool_address AND p.trade_count <> d.trade_count;
    INSERT INTO list_checkpoints (list, key, place, ordinal, block_number)
    SELECT 'dex_trades_by_pool', pool_address, place, ordinal, block_number
    FROM (
        SELECT pool_address, ordinal, block_number,
            row_number() OVER (PARTITION BY pool_address ORDER BY ordinal) - 1 AS place
        FROM dex_trades
    ) AS counted
    WHERE place > 0 AND place % 128 = 0
    ON CONFLICT DO NOTHING;
END
$$;
