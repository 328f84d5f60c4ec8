-- Transfers of items made by SQL alone, into an empty schema: base tables only. 100 a block: six of
-- ten mint an id, every second of those in one collection; two move an id of that collection; two
-- mint a BEP1155, of 1,000 ids, half of them id 7. One person in five rows gets it, the rest Zipf.
-- Settings: items.transfers, how many.

SELECT setseed(0.42);

CREATE OR REPLACE FUNCTION pg_temp.address_of(kind text, n bigint) RETURNS bytea
LANGUAGE sql IMMUTABLE AS $$
    SELECT substring(sha256(convert_to(kind || n, 'UTF8')) FROM 1 FOR 20)
$$;

INSERT INTO chain (chain_id, genesis_hash, start_block, token_count)
VALUES (1, sha256('genesis'), 0, 201);

INSERT INTO blocks
    (number, timestamp, transactions_before, token_transfers_before, dex_trades_before,
     transaction_count, token_transfer_count, dex_trade_count, hash, parent_hash, miner,
     gas_used, gas_limit, gas_price_sum, internal_transfers_before, internal_transfer_count,
     traced_before, untraced_before, logs_before, log_count)
SELECT n, timestamptz '2020-01-01 00:00:00+00' + n * interval '12 seconds', n * 100, n * 100, 0,
    100, 100, 0, sha256(int8send(n)), sha256(int8send(n - 1)), pg_temp.address_of('miner', n % 20),
    14000000, 30000000, 100 * 20000000000::numeric, 0, 0, 0, 0, 0, 0
FROM generate_series(0, current_setting('items.transfers')::bigint / 100 - 1) AS n;

INSERT INTO tokens
    (address, block_number, type, name, symbol, decimals, total_supply, supply_block, item_type)
SELECT pg_temp.address_of('collection', n), 0, 'BEP721', 'Collection ' || n, 'C' || n, 0, 1, 0, NULL
FROM generate_series(0, 199) AS n
UNION ALL
SELECT pg_temp.address_of('bazaar', 0), 0, 'BEP1155', 'Bazaar', 'BZR', 0, 1, 0, NULL;

SELECT add_partition(name, 0, 1000000000)
FROM unnest(ARRAY['transactions', 'token_transfers']) AS name;
INSERT INTO transactions
    (ordinal, block_number, transaction_index, status, hash, from_address, to_address, value,
     gas_price, gas_used, fee, type)
SELECT n, n / 100, n % 100, true, sha256(int8send(-1 - n)), pg_temp.address_of('person', n % 1000),
    pg_temp.address_of('collection', 0), 0, 20000000000, 90000, 20000000000 * 90000, ''
FROM generate_series(0, current_setting('items.transfers')::bigint / 100 * 100 - 1) AS n;

INSERT INTO token_transfers
    (ordinal, block_number, log_index, transaction_index, token_address, from_address, to_address,
     value, token_id)
SELECT n, n / 100, n % 100, n % 100,
    CASE WHEN n % 10 >= 8 THEN pg_temp.address_of('bazaar', 0)
        WHEN n % 2 = 0 OR n % 10 >= 6 THEN pg_temp.address_of('collection', 0)
        ELSE pg_temp.address_of('collection', 1 + n % 199) END,
    CASE WHEN n % 10 IN (6, 7) THEN pg_temp.address_of('person', n % 1000)
        ELSE '\x0000000000000000000000000000000000000000'::bytea END,
    pg_temp.address_of('person',
        CASE WHEN random() < 0.2 THEN 0 ELSE floor(exp(random() * ln(100000)))::bigint END),
    CASE WHEN n % 10 >= 8 THEN 1 + n % 3 ELSE 1 END,
    CASE WHEN n % 10 = 9 THEN 7
        WHEN n % 10 = 8 THEN n / 10 % 1000
        WHEN n % 10 >= 6 THEN n / 20 * 10
        ELSE n END
FROM generate_series(0, current_setting('items.transfers')::bigint / 100 * 100 - 1) AS n;
