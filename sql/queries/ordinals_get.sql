-- The ordinal of the row at a place in the chain, or of the next row after it.
-- params: entity text, block_number bigint, transaction_index bigint, row_index bigint, batch_index bigint
-- literals: entity
-- returns: one row: index version, ordinal; `row_index` is the transaction's, the log's, or of an internal
--   transfer its own in its transaction; a token transfer before the transaction is passed over whatever its log
-- index: blocks_pkey, token_transfers_pkey, dex_trades_pkey, logs_pkey, internal_transfers_pkey
SELECT index_version(), coalesce((
    SELECT CASE %(entity)s
        WHEN 'transactions' THEN b.transactions_before
        WHEN 'token_transfers' THEN b.token_transfers_before
        WHEN 'internal_transfers' THEN b.internal_transfers_before
        WHEN 'dex_trades' THEN b.dex_trades_before
        ELSE b.logs_before END
        + CASE WHEN b.number > %(block_number)s THEN 0
            WHEN %(entity)s = 'transactions' THEN least(%(row_index)s, b.transaction_count)
            WHEN %(entity)s = 'token_transfers' THEN (
                SELECT count(*)
                FROM token_transfers x
                WHERE x.ordinal >= b.token_transfers_before
                    AND x.ordinal < b.token_transfers_before + b.token_transfer_count
                    AND (x.transaction_index < %(transaction_index)s
                        OR (x.log_index, coalesce(x.batch_index, 0)) < (%(row_index)s, %(batch_index)s)))
            WHEN %(entity)s = 'dex_trades' THEN (
                SELECT count(*)
                FROM dex_trades d
                WHERE d.ordinal >= b.dex_trades_before
                    AND d.ordinal < b.dex_trades_before + b.dex_trade_count
                    AND d.log_index < %(row_index)s)
            WHEN %(entity)s = 'internal_transfers' THEN (
                SELECT count(*)
                FROM internal_transfers i
                WHERE i.ordinal >= b.internal_transfers_before
                    AND i.ordinal < b.internal_transfers_before + b.internal_transfer_count
                    AND (i.transaction_index, i.transfer_index)
                        < (%(transaction_index)s, %(row_index)s))
            ELSE (
                SELECT count(*)
                FROM logs l
                WHERE l.ordinal >= b.logs_before AND l.ordinal < b.logs_before + b.log_count
                    AND l.log_index < %(row_index)s)
            END
    FROM blocks b
    WHERE b.number >= %(block_number)s
    ORDER BY b.number ASC
    LIMIT 1), 4611686018427387904);
