-- A chain made by SQL alone, into an empty schema: base tables only; seed.py derives the rest
-- with the indexer's own statements. 150 transactions a block; one address in 5 % of the rows, the
-- rest Zipf over 200,000; as many token transfers as transactions, over 5,000 tokens, one of them
-- in 5 %; 4 % of the transactions trade on one of six exchanges.
-- Settings: bench.transactions, how many; bench.hot_share, how many of them the hot one sends.

SELECT setseed(0.42);

CREATE OR REPLACE FUNCTION pg_temp.address_of(kind text, n bigint) RETURNS bytea
LANGUAGE sql IMMUTABLE AS $$
    SELECT substring(sha256(convert_to(kind || n, 'UTF8')) FROM 1 FOR 20)
$$;

-- Number 0 is the hot one; log-uniform numbers are Zipf's with exponent 1.
CREATE OR REPLACE FUNCTION pg_temp.zipf(most bigint, hot_share double precision DEFAULT 0.05)
RETURNS bigint LANGUAGE sql VOLATILE AS $$
    SELECT CASE WHEN random() < hot_share THEN 0 ELSE floor(exp(random() * ln(most)))::bigint END
$$;

-- As the indexer stores unsigned integers: big-endian, without leading zeros.
CREATE OR REPLACE FUNCTION pg_temp.integer_of(n bigint) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
    SELECT ltrim(int8send(n), '\x00'::bytea)
$$;

INSERT INTO chain (chain_id, genesis_hash, start_block, token_count)
VALUES (1, sha256('genesis'), 0, 5001);
INSERT INTO indexer_status (node_head, checked_at)
VALUES (current_setting('bench.transactions')::bigint / 150 - 1, now());

INSERT INTO blocks
    (number, timestamp, transactions_before, token_transfers_before, dex_trades_before,
     transaction_count, token_transfer_count, dex_trade_count, hash, parent_hash, miner,
     gas_used, gas_limit, gas_price_sum, base_fee_per_gas, internal_transfers_before,
     internal_transfer_count, traced, traced_before, untraced_before, logs_before, log_count,
     producer_fees, burnt_fees)
SELECT n, timestamptz '2020-01-01 00:00:00+00' + n * interval '12 seconds', n * 150, n * 150, n * 6,
    150, 150, 6, sha256(int8send(n)), sha256(int8send(n - 1)),
    pg_temp.address_of('miner', n % 20), 14000000 + n % 1000, 30000000, 150 * 20000000000::numeric,
    19000000000, 0, 0, false, 0, n, 0, 0,
    1000000000 * (14000000 + n % 1000), 19000000000 * (14000000 + n % 1000)
FROM generate_series(0, current_setting('bench.transactions')::bigint / 150 - 1) AS n;

-- Two in five are plain transfers, the others call one of 20,000 functions; four in five are of type
-- 2, and the others legacy.
INSERT INTO transactions
    (ordinal, block_number, transaction_index, status, hash, from_address, to_address, value,
     gas_price, gas_used, fee, type, nonce, gas_limit, max_fee_per_gas, max_priority_fee_per_gas,
     cumulative_gas_used, method)
SELECT made.n, made.n / 150, made.n % 150, made.n % 50 <> 0, sha256(int8send(-1 - made.n)),
    pg_temp.address_of('person', made.sender), pg_temp.address_of('person', made.recipient),
    (made.n * 7919 % 1000000007) * 1000000000::numeric, 20000000000,
    21000 + made.n % 90000, 20000000000 * (21000 + made.n % 90000), pg_temp.integer_of(CASE WHEN made.n % 5 > 0 THEN 2 ELSE 0 END),
    pg_temp.integer_of(floor(exp(made.n * 31 % 1000 / 1000.0 * ln(1e6)))::bigint),
    pg_temp.integer_of((21000 + made.n % 90000) * (1000 + made.n * 13 % 500) / 1000),
    CASE WHEN made.n % 5 > 0 THEN pg_temp.integer_of(21000000000 + made.n * 7919 % 30000000000) END,
    CASE WHEN made.n % 5 > 0 THEN pg_temp.integer_of(1000000000) END,
    pg_temp.integer_of((made.n % 150 + 1) * 93000),
    CASE WHEN made.n * 7 % 5 > 1 THEN substring(
        sha256(int8send(floor(exp(made.n * 17 % 1000 / 1000.0 * ln(20000)))::bigint)) FOR 4) END
FROM (
    SELECT n, pg_temp.zipf(200000, current_setting('bench.hot_share')::double precision) AS sender,
        pg_temp.zipf(200000) AS recipient
    FROM generate_series(0, current_setting('bench.transactions')::bigint / 150 * 150 - 1) AS n
) AS made
ORDER BY made.n;

INSERT INTO tokens
    (address, block_number, type, name, symbol, decimals, total_supply, supply_block)
SELECT pg_temp.address_of('token', n), 0, 'BEP20', 'Token ' || n, 'T' || n, 18,
    1000000000 * 10::numeric ^ 18, 0
FROM generate_series(0, 5000) AS n;

INSERT INTO contracts (address, block_number, code_hash)
SELECT pg_temp.address_of('token', n), 0, sha256('code') FROM generate_series(0, 5000) AS n;

INSERT INTO labels (address, label)
SELECT pg_temp.address_of('person', n), 'Person ' || n FROM generate_series(0, 1999) AS n;

INSERT INTO token_transfers
    (ordinal, block_number, log_index, transaction_index, token_address, from_address, to_address,
     value)
SELECT made.n, made.n / 150, made.n % 150 * 2, made.n % 150, pg_temp.address_of('token', made.coin),
    pg_temp.address_of('person', made.sender), pg_temp.address_of('person', made.recipient),
    (made.n * 104729 % 1000003) * 1000000000000::numeric
FROM (
    SELECT n, pg_temp.zipf(200000) AS sender, pg_temp.zipf(200000) AS recipient,
        pg_temp.zipf(5000) AS coin
    FROM generate_series(0, current_setting('bench.transactions')::bigint / 150 * 150 - 1) AS n
) AS made
ORDER BY made.n;

INSERT INTO dexes (name)
VALUES ('uniswap-v2'), ('uniswap-v3'), ('pancakeswap-v2'), ('pancakeswap-v3'), ('sushiswap-v2'),
    ('v2-0x00000000000000000000000000000000000000aa');

INSERT INTO dex_trades
    (ordinal, block_number, log_index, transaction_index, dex_id, pool_address, maker, token_in,
     token_out, amount_in, amount_out)
SELECT t.ordinal / 25, t.block_number, t.transaction_index * 2 + 1, t.transaction_index, x.dex_id,
    -- Half of all trades are in one pool.
    pg_temp.address_of('pool', CASE WHEN t.transaction_index % 50 = 7 THEN 0
        ELSE t.block_number % 3000 END), t.from_address,
    pg_temp.address_of('token', t.block_number % 5000),
    pg_temp.address_of('token', (t.block_number + 1) % 5000),
    t.block_number * 1000000000000::numeric, t.transaction_index * 1000000000000::numeric
FROM transactions t
JOIN dexes x ON x.dex_id = (SELECT min(dex_id) FROM dexes)
    + (t.block_number + t.transaction_index / 25) % 6
WHERE t.transaction_index % 25 = 7
ORDER BY t.ordinal;

INSERT INTO pools (address, block_number, dex_id, token0, token1)
SELECT DISTINCT ON (d.pool_address) d.pool_address, d.block_number, d.dex_id, d.token_in, d.token_out
FROM dex_trades d
ORDER BY d.pool_address, d.ordinal;
