-- Blocks whose counts or ordinals are not what the rows give.
-- params: most integer
-- returns: block number, what is stored, what is expected (jsonb), how many such there are
-- index: none
SELECT number::text, stored, expected, count(*) OVER ()
FROM (
    SELECT b.number,
        jsonb_build_object('transactions_before', b.transactions_before,
            'token_transfers_before', b.token_transfers_before,
            'dex_trades_before', b.dex_trades_before, 'transaction_count', b.transaction_count,
            'token_transfer_count', b.token_transfer_count, 'dex_trade_count', b.dex_trade_count,
            'gas_price_sum', b.gas_price_sum,
            'internal_transfers_before', b.internal_transfers_before,
            'internal_transfer_count', b.internal_transfer_count,
            'traced_before', b.traced_before,
            'untraced_before', b.untraced_before,
            'logs_before', b.logs_before, 'log_count', b.log_count) AS stored,
        to_jsonb(e) - 'number' AS expected
    FROM blocks b
    JOIN expected_blocks e USING (number)
) AS compared
WHERE stored <> expected
ORDER BY number
LIMIT %(most)s;
