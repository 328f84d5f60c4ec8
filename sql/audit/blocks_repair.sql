-- Makes the counts and ordinals of blocks what the rows give.
-- params: none
-- returns: nothing
-- index: none
UPDATE blocks b
SET transactions_before = e.transactions_before,
    token_transfers_before = e.token_transfers_before,
    dex_trades_before = e.dex_trades_before,
    transaction_count = e.transaction_count,
    token_transfer_count = e.token_transfer_count,
    dex_trade_count = e.dex_trade_count,
    gas_price_sum = e.gas_price_sum,
    internal_transfers_before = e.internal_transfers_before,
    internal_transfer_count = e.internal_transfer_count,
    traced_before = e.traced_before,
    untraced_before = e.untraced_before,
    logs_before = e.logs_before,
    log_count = e.log_count
FROM expected_blocks e
WHERE e.number = b.number
    AND (b.transactions_before, b.token_transfers_before, b.dex_trades_before, b.transaction_count,
        b.token_transfer_count, b.dex_trade_count, b.gas_price_sum, b.internal_transfers_before,
        b.internal_transfer_count, b.traced_before, b.untraced_before, b.logs_before,
        b.log_count)
    IS DISTINCT FROM (e.transactions_before, e.token_transfers_before, e.dex_trades_before,
        e.transaction_count, e.token_transfer_count, e.dex_trade_count, e.gas_price_sum,
        e.internal_transfers_before, e.internal_transfer_count, e.traced_before,
        e.untraced_before, e.logs_before, e.log_count);
