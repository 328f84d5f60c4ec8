-- The numbers of rows that each long table has in the newest sixteenth of the kept blocks, or of their
-- time.
-- params: keep_blocks bigint null, keep_s bigint null
-- returns: no row where nothing is indexed; transactions, token_transfers, dex_trades,
--   internal_transfers, logs, block_bodies
-- index: blocks_pkey
SELECT n.transactions_before + n.transaction_count - o.transactions_before,
    n.token_transfers_before + n.token_transfer_count - o.token_transfers_before,
    n.dex_trades_before + n.dex_trade_count - o.dex_trades_before,
    n.internal_transfers_before + n.internal_transfer_count - o.internal_transfers_before,
    n.logs_before + n.log_count - o.logs_before,
    n.number - o.number
FROM (SELECT b.* FROM blocks b ORDER BY b.number DESC LIMIT 1) AS n
JOIN blocks o ON o.number = greatest((SELECT min(b.number) FROM blocks b), least(n.number,
    n.number - %(keep_blocks)s::bigint / 16,
    first_block_since(n.timestamp - make_interval(secs => %(keep_s)s / 16))));
