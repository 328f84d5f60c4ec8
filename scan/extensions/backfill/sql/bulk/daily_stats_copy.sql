-- In DuckDB: the text of rows of daily_stats.
-- params: none
-- returns: the table's columns
-- index: none
SELECT (DATE '1970-01-01' + day::INTEGER)::VARCHAR AS day, first_block, last_block,
    transaction_count, failed_transaction_count,
    active_address_count, new_address_count, created_contract_count, token_transfer_count,
    dex_trade_count, gas_used, fees_wei, burnt_wei
FROM daily_stats;
