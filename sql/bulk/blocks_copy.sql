-- In DuckDB: the text of rows of blocks.
-- params: none
-- returns: the table's columns
-- index: none
SELECT number, make_timestamp(timestamp_s * 1000000)::VARCHAR || '+00' AS timestamp,
    transactions_before, token_transfers_before, dex_trades_before, transaction_count,
    token_transfer_count, dex_trade_count, bytea_text(hash) AS hash,
    bytea_text(parent_hash) AS parent_hash, bytea_text(miner) AS miner,
    uint256_text(gas_used_0, gas_used_1, gas_used_2, gas_used_3) AS gas_used,
    uint256_text(gas_limit_0, gas_limit_1, gas_limit_2, gas_limit_3) AS gas_limit, gas_price_sum,
    uint256_text(base_fee_per_gas_0, base_fee_per_gas_1, base_fee_per_gas_2, base_fee_per_gas_3)
        AS base_fee_per_gas,
    internal_transfers_before, internal_transfer_count, withdrawal_count, traced, traced_before,
    untraced_before, logs_before, log_count, size
FROM blocks
ORDER BY number;
