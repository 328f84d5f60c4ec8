-- Makes the counts of days what the rows give.
-- params: none
-- returns: nothing
-- index: daily_stats_pkey
WITH wrong AS (
    DELETE FROM daily_stats s
    WHERE NOT EXISTS (SELECT FROM expected_daily_stats e WHERE e.day = s.day)
)
INSERT INTO daily_stats AS s (day, first_block, last_block, transaction_count,
    failed_transaction_count, active_address_count, new_address_count, created_contract_count,
    token_transfer_count, dex_trade_count, gas_used, fees_wei, burnt_wei)
SELECT day, first_block, last_block, transaction_count, failed_transaction_count,
    active_address_count, new_address_count, created_contract_count, token_transfer_count,
    dex_trade_count, gas_used, fees_wei, burnt_wei
FROM expected_daily_stats
ON CONFLICT (day) DO UPDATE SET
    first_block = EXCLUDED.first_block,
    last_block = EXCLUDED.last_block,
    transaction_count = EXCLUDED.transaction_count,
    failed_transaction_count = EXCLUDED.failed_transaction_count,
    active_address_count = EXCLUDED.active_address_count,
    new_address_count = EXCLUDED.new_address_count,
    created_contract_count = EXCLUDED.created_contract_count,
    token_transfer_count = EXCLUDED.token_transfer_count,
    dex_trade_count = EXCLUDED.dex_trade_count,
    gas_used = EXCLUDED.gas_used,
    fees_wei = EXCLUDED.fees_wei,
    burnt_wei = EXCLUDED.burnt_wei;
