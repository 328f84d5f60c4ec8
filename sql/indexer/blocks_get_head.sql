-- The newest indexed block, and the totals up to and with it.
-- params: none
-- literals: none
-- returns: no row when nothing is indexed; else number, hash, totals as writer.py's RowCounts (jsonb)
-- index: blocks_pkey
SELECT number, hash, jsonb_build_object(
    'transactions', transactions_before + transaction_count,
    'token_transfers', token_transfers_before + token_transfer_count,
    'dex_trades', dex_trades_before + dex_trade_count,
    'internal_transfers', internal_transfers_before + internal_transfer_count,
    'traced', traced_before + (traced IS TRUE)::integer,
    'untraced', untraced_before + (traced IS FALSE)::integer,
    'unproven', unproven_before + (unproven IS NOT NULL)::integer,
    'logs', logs_before + log_count)
FROM blocks
ORDER BY number DESC
LIMIT 1;
