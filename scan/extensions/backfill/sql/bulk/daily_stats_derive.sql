-- In DuckDB: the counters of each day.
-- params: none
-- returns: the columns of the table daily_stats in DuckDB
-- index: none
SELECT s.day, s.first_block, s.last_block, s.transaction_count, s.failed_transaction_count,
    s.active_address_count, s.new_address_count, s.created_contract_count, s.token_transfer_count,
    s.dex_trade_count, s.gas_used, s.fees_wei, s.burnt_wei
FROM daily_stats_expected() s;
