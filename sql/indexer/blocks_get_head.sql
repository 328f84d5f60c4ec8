-- The newest indexed block, and the totals up to and with it.
-- params: none
-- returns: no row when nothing is indexed; else number, hash, transactions, transfers, trades
-- index: blocks_pkey
SELECT number, hash, transactions_before + transaction_count,
    token_transfers_before + token_transfer_count, dex_trades_before + dex_trade_count
FROM blocks
ORDER BY number DESC
LIMIT 1;
