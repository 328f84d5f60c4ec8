-- Rows are numbered in the chain's order, and keys, indexes and checkpoints go by that number: they
-- are smaller, and a page is a range of it. Tables are written anew, since every row and index of them
-- changes; schema.sql makes their indexes, and the functions that take their rows.
DO $$
BEGIN
    IF EXISTS (SELECT FROM information_schema.columns
            WHERE table_schema = current_schema AND table_name = 'transactions'
                AND column_name = 'ordinal') THEN
        RETURN; -- made by a schema.sql that has them
    END IF;

    -- Elsewhere, so that the names of its constraints and indexes are free.
    CREATE SCHEMA scan_before_ordinals;
    ALTER TABLE transactions SET SCHEMA scan_before_ordinals;
    ALTER TABLE token_transfers SET SCHEMA scan_before_ordinals;
    ALTER TABLE dex_trades SET SCHEMA scan_before_ordinals;
    ALTER TABLE list_checkpoints SET SCHEMA scan_before_ordinals;

    CREATE TABLE transactions (
        ordinal bigint NOT NULL,
        block_number bigint NOT NULL,
        transaction_index integer NOT NULL,
        status boolean NOT NULL,
        hash bytea NOT NULL,
        from_address bytea NOT NULL,
        to_address bytea,
        contract_address bytea,
        value numeric(78, 0) NOT NULL,
        gas_price numeric(78, 0) NOT NULL,
        gas_used numeric(78, 0) NOT NULL
    );
    INSERT INTO transactions (ordinal, block_number, transaction_index, status, hash,
        from_address, to_address, contract_address, value, gas_price, gas_used)
    SELECT b.transactions_before + row_number() OVER block - 1, t.block_number,
        t.transaction_index, t.status, t.hash, t.from_address, t.to_address, t.contract_address,
        t.value, t.gas_price, t.gas_used
    FROM scan_before_ordinals.transactions t
    JOIN blocks b ON b.number = t.block_number
    WINDOW block AS (PARTITION BY t.block_number ORDER BY t.transaction_index)
    ORDER BY t.block_number, t.transaction_index;

    CREATE TABLE token_transfers (
        ordinal bigint NOT NULL,
        block_number bigint NOT NULL,
        log_index integer NOT NULL,
        batch_index integer CHECK (batch_index > 0),
        transaction_index integer NOT NULL,
        token_address bytea NOT NULL,
        from_address bytea NOT NULL,
        to_address bytea NOT NULL,
        value numeric(78, 0) NOT NULL,
        token_id numeric(78, 0)
    );
    INSERT INTO token_transfers (ordinal, block_number, log_index, batch_index,
        transaction_index, token_address, from_address, to_address, value, token_id)
    SELECT b.token_transfers_before + row_number() OVER block - 1, x.block_number, x.log_index,
        nullif(x.batch_index, 0), x.transaction_index, x.token_address, x.from_address,
        x.to_address, x.value, x.token_id
    FROM scan_before_ordinals.token_transfers x
    JOIN blocks b ON b.number = x.block_number
    WINDOW block AS (PARTITION BY x.block_number ORDER BY x.log_index, x.batch_index)
    ORDER BY x.block_number, x.log_index, x.batch_index;

    CREATE TABLE dex_trades (
        ordinal bigint NOT NULL,
        block_number bigint NOT NULL,
        log_index integer NOT NULL,
        transaction_index integer NOT NULL,
        dex_id integer NOT NULL,
        pool_address bytea NOT NULL,
        maker bytea NOT NULL,
        token_in bytea NOT NULL,
        token_out bytea NOT NULL,
        amount_in numeric(78, 0) NOT NULL,
        amount_out numeric(78, 0) NOT NULL
    );
    INSERT INTO dex_trades (ordinal, block_number, log_index, transaction_index, dex_id,
        pool_address, maker, token_in, token_out, amount_in, amount_out)
    SELECT b.dex_trades_before + row_number() OVER block - 1, d.block_number, d.log_index,
        d.transaction_index, d.dex_id, d.pool_address, d.maker, d.token_in, d.token_out,
        d.amount_in, d.amount_out
    FROM scan_before_ordinals.dex_trades d
    JOIN blocks b ON b.number = d.block_number
    WINDOW block AS (PARTITION BY d.block_number ORDER BY d.log_index)
    ORDER BY d.block_number, d.log_index;

    DROP SCHEMA scan_before_ordinals CASCADE;
    DROP FUNCTION IF EXISTS list_start(text, bytea, bigint, bigint, text);
    DROP INDEX IF EXISTS blocks_transactions_before, blocks_token_transfers_before,
        blocks_dex_trades_before;
    ALTER TABLE transactions ADD PRIMARY KEY (ordinal);
    ALTER TABLE token_transfers ADD PRIMARY KEY (ordinal);
    ALTER TABLE dex_trades ADD PRIMARY KEY (ordinal);
    ANALYZE transactions, token_transfers, dex_trades;

    -- Every 128th entry, counted anew: the first version noted every 1,000th.
    CREATE TABLE list_checkpoints (
        place bigint NOT NULL,
        ordinal bigint NOT NULL,
        block_number bigint NOT NULL,
        list text NOT NULL,
        key bytea NOT NULL
    );
    INSERT INTO list_checkpoints (place, ordinal, block_number, list, key)
    SELECT place, ordinal, block_number, list, key
    FROM (
        SELECT list, key, ordinal, block_number,
            row_number() OVER (PARTITION BY list, key ORDER BY ordinal) - 1 AS place
        FROM (
            SELECT 'transactions_by_address' AS list, p.address AS key, t.ordinal, t.block_number
            FROM transactions t
            CROSS JOIN LATERAL (
                SELECT t.from_address AS address
                UNION SELECT t.to_address
                UNION SELECT t.contract_address
            ) AS p
            WHERE p.address IS NOT NULL
            UNION ALL
            SELECT 'transactions_by_from', from_address, ordinal, block_number FROM transactions
            UNION ALL
            SELECT 'transactions_by_to', to_address, ordinal, block_number FROM transactions
            WHERE to_address IS NOT NULL
            UNION ALL
            SELECT 'token_transfers_by_address', p.address, x.ordinal, x.block_number
            FROM token_transfers x
            CROSS JOIN LATERAL (SELECT x.from_address AS address UNION SELECT x.to_address) AS p
            UNION ALL
            SELECT 'token_transfers_by_from', from_address, ordinal, block_number
            FROM token_transfers
            UNION ALL
            SELECT 'token_transfers_by_to', to_address, ordinal, block_number
            FROM token_transfers
            UNION ALL
            SELECT 'token_transfers_by_token', token_address, ordinal, block_number
            FROM token_transfers
            UNION ALL
            SELECT 'dex_trades_by_maker', maker, ordinal, block_number FROM dex_trades
            UNION ALL
            SELECT 'dex_trades_by_dex', convert_to(e.name, 'UTF8'), d.ordinal, d.block_number
            FROM dex_trades d
            JOIN dexes e USING (dex_id)
        ) AS entries
    ) AS counted
    WHERE place > 0 AND place % 128 = 0;
    ALTER TABLE list_checkpoints ADD PRIMARY KEY (list, key, place);
END
$$;
