-- What the history of an address counts, and the price of blobs. The counters are filled here from the
-- rows, in one statement: the indexer of an older release does not know them, so this waits until it is
-- stopped. `scan backfill fields` reads the price of blobs, and base fees that are missing, from the
-- node, and corrects the sums of addresses by them.
ALTER TABLE IF EXISTS transactions ADD COLUMN IF NOT EXISTS blob_gas_price bytea;
ALTER TABLE IF EXISTS addresses
    ADD COLUMN IF NOT EXISTS coin_sent_count bigint,
    ADD COLUMN IF NOT EXISTS coin_received_count bigint,
    ADD COLUMN IF NOT EXISTS withdrawal_count bigint,
    ADD COLUMN IF NOT EXISTS produced_count bigint,
    ADD COLUMN IF NOT EXISTS net_wei numeric;
DROP INDEX IF EXISTS withdrawals_by_address; -- withdrawals_of_address has its index, too
-- commit
DO $$
BEGIN
    IF to_regclass('addresses') IS NULL THEN
        RETURN;
    END IF;
    -- As schema.sql has them: an old database gets them only after all migrations.
    CREATE TABLE IF NOT EXISTS internal_transfers (
        ordinal bigint PRIMARY KEY,
        block_number bigint NOT NULL,
        transaction_index integer NOT NULL,
        transfer_index integer NOT NULL,
        type smallint NOT NULL,
        from_address bytea NOT NULL,
        to_address bytea NOT NULL,
        value numeric(78, 0) NOT NULL
    );
    CREATE TABLE IF NOT EXISTS withdrawals (
        block_number bigint NOT NULL,
        withdrawal_index bigint NOT NULL,
        validator_index bigint NOT NULL,
        address bytea NOT NULL,
        amount_wei numeric(78, 0) NOT NULL,
        PRIMARY KEY (block_number, withdrawal_index)
    );
    IF NOT pg_try_advisory_xact_lock(hashtextextended('scan.indexer', 0)) THEN
        RAISE 'an indexer is running' USING ERRCODE = 'lock_not_available',
            HINT = 'An indexer of an older release is running: stop it until the migration is done.';
    END IF;
    UPDATE addresses a
    SET coin_sent_count = nullif(s.coin_sent, 0),
        coin_received_count = nullif(s.coin_received, 0),
        withdrawal_count = nullif(s.withdrawals, 0),
        produced_count = nullif(s.produced, 0),
        net_wei = nullif(s.net, 0)
    FROM (
        SELECT address, sum(coin_sent) AS coin_sent, sum(coin_received) AS coin_received,
            sum(withdrawals) AS withdrawals, sum(produced) AS produced, sum(net) AS net
        FROM (
            SELECT from_address AS address, (status AND value > 0)::integer AS coin_sent,
                0 AS coin_received, 0 AS withdrawals, 0 AS produced,
                -gas_price * gas_used - CASE WHEN status THEN value ELSE 0 END AS net
            FROM transactions
            UNION ALL
            SELECT coalesce(to_address, contract_address), 0,
                (coalesce(to_address, contract_address) <> from_address)::integer, 0, 0, value
            FROM transactions
            WHERE status AND value > 0 AND coalesce(to_address, contract_address) IS NOT NULL
            UNION ALL
            SELECT from_address, 0, 0, 0, 0, -value FROM internal_transfers
            UNION ALL
            SELECT to_address, 0, 0, 0, 0, value FROM internal_transfers
            UNION ALL
            SELECT address, 0, 0, 1, 0, amount_wei FROM withdrawals
            UNION ALL
            SELECT b.miner, 0, 0, 0, 1, sum(
                greatest(t.gas_price - coalesce(b.base_fee_per_gas, 0), 0) * t.gas_used)
            FROM blocks b
            JOIN transactions t ON t.block_number = b.number
            GROUP BY b.number
        ) AS moved
        GROUP BY address
    ) AS s
    WHERE a.address = s.address;
    INSERT INTO list_checkpoints (list, key, place, ordinal, block_number)
    SELECT list, key, place, ordinal, block_number
    FROM (
        SELECT list, key, ordinal, block_number,
            row_number() OVER (PARTITION BY list, key ORDER BY ordinal) - 1 AS place
        FROM (
            SELECT 'coin_by_from' AS list, t.from_address AS key, t.ordinal, t.block_number
            FROM transactions t
            JOIN addresses a ON a.address = t.from_address AND a.coin_sent_count > 128
            WHERE t.status AND t.value > 0
            UNION ALL
            SELECT 'coin_by_to', a.address, t.ordinal, t.block_number
            FROM transactions t
            JOIN addresses a ON a.address = coalesce(t.to_address, t.contract_address)
                AND a.coin_received_count > 128
            WHERE t.status AND t.value > 0 AND a.address <> t.from_address
        ) AS entries
    ) AS counted
    WHERE place > 0 AND place % 128 = 0
    ON CONFLICT DO NOTHING;
END
$$;
