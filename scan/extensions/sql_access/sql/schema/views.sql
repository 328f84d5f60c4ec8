-- Views for people and their tools.

-- Views for people and their tools (docs/sql.md), which keep their columns between releases; the
-- tables do not. Addresses and hashes are hex. Columns named _bytes are the tables' own, which have
-- indexes: compare them with v1.bytes('0x...').
DO $$ BEGIN PERFORM make_schema('v1'); END $$;

CREATE OR REPLACE FUNCTION v1.bytes(hex text) RETURNS bytea LANGUAGE sql IMMUTABLE STRICT
RETURN decode(substr(hex, 3), 'hex');

-- An amount in units of a token, or of the coin, exact and without zeros at its end. It is a product, which
-- keeps all digits; PostgreSQL rounds a quotient.
CREATE OR REPLACE FUNCTION v1.units(amount numeric, decimals integer) RETURNS numeric
LANGUAGE sql IMMUTABLE
RETURN trim_scale(amount * ('1e-' || decimals)::numeric);

CREATE OR REPLACE VIEW v1.blocks AS
SELECT b.number, hex(b.hash) AS hash, hex(b.parent_hash) AS parent_hash, b.timestamp,
    hex(b.miner) AS miner, b.transaction_count, b.token_transfer_count, b.dex_trade_count,
    b.gas_used, b.gas_limit, b.base_fee_per_gas, b.size, unproven_of_block(b) AS unproven
FROM blocks b;

CREATE OR REPLACE VIEW v1.transactions AS
SELECT t.ordinal, hex(t.hash) AS hash, t.block_number, b.timestamp, t.transaction_index,
    hex(t.from_address) AS from_address, hex(t.to_address) AS to_address,
    hex(t.contract_address) AS contract_address, t.value AS value_wei, v1.units(t.value, 18) AS value_coin,
    t.gas_used, t.gas_price, v1.units(t.fee, 18) AS fee_coin,
    CASE WHEN b.unproven IS NULL OR NOT has_unknown_status(t, b) THEN t.status END AS status,
    hex(t.method) AS method, integer_text(t.nonce)::numeric AS nonce,
    t.hash AS hash_bytes, t.from_address AS from_bytes, t.to_address AS to_bytes,
    unproven_of_transaction(t, b) AS unproven
FROM transactions t
JOIN blocks b ON b.number = t.block_number;

-- Those that SCAN_LOGS has stored, and those of followed contracts, which have no ordinal.
CREATE OR REPLACE VIEW v1.logs AS
SELECT l.ordinal, l.block_number, b.timestamp, l.log_index, hex(t.hash) AS transaction_hash,
    hex(l.address) AS address, hex(e.topic0) AS topic0, hex(nullif(substr(l.topics, 1, 32), '')) AS topic1,
    hex(nullif(substr(l.topics, 33, 32), '')) AS topic2, hex(nullif(substr(l.topics, 65, 32), '')) AS topic3,
    hex(l.data) AS data, l.address AS address_bytes, e.topic0 AS topic0_bytes
FROM logs l
JOIN blocks b ON b.number = l.block_number
LEFT JOIN transactions t ON t.ordinal = b.transactions_before + l.transaction_index
LEFT JOIN event_topics e ON e.topic_id = l.topic_id;
DO $$
BEGIN
    IF to_regclass('contract_events') IS NOT NULL THEN
        EXECUTE 'CREATE OR REPLACE VIEW v1.logs AS ' || rtrim(pg_get_viewdef('v1.logs'::regclass), ';') || '
            UNION ALL
            SELECT NULL, e.block_number, b.timestamp, e.log_index, hex(t.hash), hex(e.address), hex(e.topic0),
                hex(e.topic1), hex(e.topic2), hex(e.topic3), hex(e.data), e.address, e.topic0
            FROM contract_events e
            JOIN blocks b ON b.number = e.block_number
            LEFT JOIN transactions t ON t.ordinal = b.transactions_before + e.transaction_index
            WHERE e.data IS NOT NULL AND NOT EXISTS (
                SELECT FROM event_topics k, chain c WHERE k.topic0 = e.topic0 AND c.stored_logs = ''standard'')';
    END IF;
END
$$;

CREATE OR REPLACE VIEW v1.token_transfers AS
SELECT x.ordinal, x.block_number, b.timestamp, x.log_index, coalesce(x.batch_index, 0) AS batch_index,
    hex(x.token_address) AS token_address, k.symbol, moved_type(k, x.token_id) AS token_type,
    hex(x.from_address) AS from_address, hex(x.to_address) AS to_address, x.value,
    v1.units(x.value, decimals_at(k, x.block_number)) AS amount, x.token_id,
    x.token_address AS token_bytes, x.from_address AS from_bytes, x.to_address AS to_bytes
FROM token_transfers x
JOIN blocks b ON b.number = x.block_number
LEFT JOIN tokens k ON k.address = x.token_address;

CREATE OR REPLACE VIEW v1.internal_transfers AS
SELECT i.ordinal, i.block_number, b.timestamp, i.transaction_index, i.transfer_index,
    internal_transfer_type(i.type) AS type, hex(i.from_address) AS from_address,
    hex(i.to_address) AS to_address, i.value AS value_wei, v1.units(i.value, 18) AS value_coin,
    i.from_address AS from_bytes, i.to_address AS to_bytes,
    is_proven_transfer(b, i.from_address, i.to_address, i.value) AS proven
FROM internal_transfers i
JOIN blocks b ON b.number = i.block_number;

CREATE OR REPLACE VIEW v1.dex_trades AS
SELECT d.ordinal, d.block_number, b.timestamp, d.log_index, e.name AS dex,
    hex(pool_contract(d.pool_address)) AS pool_address, hex(d.maker) AS maker,
    hex(d.token_in) AS token_in, given.symbol AS symbol_in,
    v1.units(d.amount_in, CASE WHEN given.address IS NULL THEN 0 ELSE decimals_at(given, d.block_number) END) AS amount_in,
    hex(d.token_out) AS token_out, taken.symbol AS symbol_out,
    v1.units(d.amount_out, CASE WHEN taken.address IS NULL THEN 0 ELSE decimals_at(taken, d.block_number) END) AS amount_out,
    d.pool_address AS pool_bytes, d.maker AS maker_bytes,
    CASE WHEN octet_length(d.pool_address) > 20 THEN hex(substr(d.pool_address, 21)) END AS pool_id
FROM dex_trades d
JOIN blocks b ON b.number = d.block_number
JOIN dexes e ON e.dex_id = d.dex_id
LEFT JOIN tokens given ON given.address = d.token_in
LEFT JOIN tokens taken ON taken.address = d.token_out;

CREATE OR REPLACE VIEW v1.tokens AS
SELECT hex(k.address) AS address, k.name, k.symbol, k.type, k.decimals,
    v1.units(token_supply(k), k.decimals) AS total_supply, counted_holders(k) AS holder_count,
    k.transfer_count, k.block_number AS first_block, k.address AS address_bytes,
    k.inconsistent_since, supply_block_of(k) AS supply_block
FROM tokens k
WHERE k.ended_in IS NULL AND k.has_holdings;

CREATE OR REPLACE VIEW v1.token_holders AS
SELECT hex(h.token_address) AS token_address, k.symbol, hex(h.holder) AS holder,
    v1.units(h.balance, k.decimals) AS balance,
    h.token_address AS token_bytes, h.holder AS holder_bytes, k.inconsistent_since
FROM token_holders h
LEFT JOIN tokens k ON k.address = h.token_address
WHERE h.balance <> 0;

CREATE OR REPLACE VIEW v1.addresses AS
SELECT hex(a.address) AS address, l.label, a.first_seen AS first_block, a.last_seen AS last_block,
    a.transaction_count, a.transfer_count, a.trade_count, v1.units(a.balance, 18) AS balance_coin,
    a.balance_block, a.address AS address_bytes
FROM addresses a
LEFT JOIN labels l ON l.address = a.address;

CREATE OR REPLACE VIEW v1.daily_stats AS
SELECT d.day, d.transaction_count, d.failed_transaction_count, d.active_address_count,
    d.new_address_count, d.created_contract_count, d.token_transfer_count, d.dex_trade_count,
    d.gas_used, v1.units(d.fees_wei, 18) AS fees_coin, v1.units(d.burnt_wei, 18) AS burnt_coin
FROM daily_stats d;

CREATE OR REPLACE VIEW v1.verified_contracts AS
SELECT hex(v.address) AS address, v.contract_name, v.compiler_version, v.match, v.license, v.abi,
    v.verified_at, v.address AS address_bytes
FROM verified_contracts v
WHERE v.is_indexed AND v.match <> 'runtime';
