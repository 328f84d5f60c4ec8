-- The newest indexed block, the totals up to and with it, and which logs are stored.
-- params: none
-- literals: none
-- returns: no row when nothing is indexed; else number, hash, totals as writer.py's RowCounts (jsonb),
--   the selection of logs, and the version of the followed contracts
-- index: blocks_pkey, chain_pkey
SELECT number, hash, jsonb_build_object(
    'transactions', transactions_before + transaction_count,
    'token_transfers', token_transfers_before + token_transfer_count,
    'dex_trades', dex_trades_before + dex_trade_count,
    'internal_transfers', internal_transfers_before + internal_transfer_count,
    'traced', traced_before + (traced IS TRUE)::integer,
    'untraced', untraced_before + (traced IS FALSE)::integer,
    'unproven', unproven_before + (unproven IS NOT NULL)::integer,
    'logs', logs_before + log_count),
    coalesce((SELECT c.stored_logs FROM chain c), 'none'),
    coalesce((SELECT c.followed_version FROM chain c), 0)
FROM blocks
ORDER BY number DESC
LIMIT 1;
