-- Token transfers and trades of one transaction, in the order of their logs; of each at most 200.
-- params: hash bytea
-- literals: none
-- returns: one row: index version, transfers (JSON text), how many there are, trades (JSON text), how
--   many there are; nulls where no such transaction is indexed
-- index: transactions_by_hash, blocks_pkey, token_transfers_pkey, dex_trades_pkey, tokens_pkey,
--   dexes_pkey, token_transfers_by_from, token_transfers_by_to, dex_trades_by_pool, kept_transactions_pkey
WITH transaction AS (
    SELECT t.hash, t AS itself, t.transaction_index, b.timestamp, b AS block,
        b.token_transfers_before AS transfers_from,
        b.token_transfers_before + b.token_transfer_count - 1 AS transfers_to,
        b.dex_trades_before AS trades_from,
        b.dex_trades_before + b.dex_trade_count - 1 AS trades_to
    FROM transactions t
    JOIN blocks b ON b.number = t.block_number
    WHERE t.hash = %(hash)s AND is_kept(t.block_number, t.transaction_index)
    LIMIT 1
), transfers AS (
    SELECT x, row_number() OVER (ORDER BY x.ordinal) AS position
    FROM transaction, token_transfers x
    WHERE x.ordinal BETWEEN (SELECT transfers_from FROM transaction) AND (SELECT transfers_to FROM transaction)
        AND x.transaction_index = transaction.transaction_index
), trades AS (
    SELECT d, row_number() OVER (ORDER BY d.ordinal) AS position
    FROM transaction, dex_trades d
    WHERE d.ordinal BETWEEN (SELECT trades_from FROM transaction) AND (SELECT trades_to FROM transaction)
        AND d.transaction_index = transaction.transaction_index
)
SELECT index_version(),
    (SELECT json_list(string_agg(token_transfer_record(transfers.x, transaction.itself, k,
        transaction.timestamp)::text, ',' ORDER BY position))
    FROM transaction, transfers
    JOIN tokens k ON k.address = (transfers.x).token_address
    WHERE position <= 200),
    (SELECT count(*) FROM transfers),
    (SELECT json_list(string_agg(dex_trade_record(trades.d, transaction.hash,
        (SELECT x.name FROM dexes x WHERE x.dex_id = (trades.d).dex_id),
        transaction.timestamp, i, o,
        (SELECT g.is_backed FROM trade_backing(trades.d, transaction.block) AS g))::text,
        ',' ORDER BY position))
    FROM transaction, trades
    LEFT JOIN tokens i ON i.address = (trades.d).token_in
    LEFT JOIN tokens o ON o.address = (trades.d).token_out
    WHERE position <= 200),
    (SELECT count(*) FROM trades);
