-- Which ordinals the rows of a range of blocks have; where there are none, the last is before the
-- first.
-- params: block_from bigint, block_to bigint
-- returns: one jsonb object with block_range.py's BlockRange but for its blocks
-- index: blocks_pkey
SELECT jsonb_build_object(
    'transactions', jsonb_build_object('first_transaction', oldest.transactions_before,
        'last_transaction', newest.transactions_before + newest.transaction_count - 1),
    'transfers', jsonb_build_object('first_transfer', oldest.token_transfers_before,
        'last_transfer', newest.token_transfers_before + newest.token_transfer_count - 1),
    'trades', jsonb_build_object('first_trade', oldest.dex_trades_before,
        'last_trade', newest.dex_trades_before + newest.dex_trade_count - 1),
    'internal', jsonb_build_object('first_internal', oldest.internal_transfers_before,
        'last_internal', newest.internal_transfers_before + newest.internal_transfer_count - 1),
    'logs', jsonb_build_object('first_log', oldest.logs_before,
        'last_log', newest.logs_before + newest.log_count - 1))
FROM blocks oldest
CROSS JOIN blocks newest
WHERE oldest.number = %(block_from)s AND newest.number = %(block_to)s;
