-- Which ordinals the rows of a range of blocks have; where there are none, the last is before the
-- first.
-- params: block_from bigint, block_to bigint
-- returns: first and last of the transactions, of the token transfers, of the trades, of the internal
--   transfers, of the logs
-- index: blocks_pkey
SELECT oldest.transactions_before, newest.transactions_before + newest.transaction_count - 1,
    oldest.token_transfers_before, newest.token_transfers_before + newest.token_transfer_count - 1,
    oldest.dex_trades_before, newest.dex_trades_before + newest.dex_trade_count - 1,
    oldest.internal_transfers_before,
    newest.internal_transfers_before + newest.internal_transfer_count - 1,
    oldest.logs_before, newest.logs_before + newest.log_count - 1
FROM blocks oldest
CROSS JOIN blocks newest
WHERE oldest.number = %(block_from)s AND newest.number = %(block_to)s;
