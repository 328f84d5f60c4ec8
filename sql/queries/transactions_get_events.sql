-- Token transfers and trades of one transaction, in the order of their logs; of each at most 200.
-- params: hash bytea
-- literals: none
-- returns: one row: index version, transfers (JSON text), how many there are, trades (JSON text), how
--   many there are; nulls where no such transaction is indexed
-- index: transactions_by_hash, blocks_pkey, token_transfers_pkey, dex_trades_pkey, tokens_pkey,
--   dexes_pkey, token_transfers_by_from, token_transfers_by_to, dex_trades_by_pool
WITH asked AS (
    SELECT t.hash, t.transaction_index, b.timestamp, b AS block,
        b.token_transfers_before AS transfers_from,
        b.token_transfers_before + b.token_transfer_count - 1 AS transfers_to,
        b.dex_trades_before AS trades_from,
        b.dex_trades_before + b.dex_trade_count - 1 AS trades_to
    FROM transactions t
    JOIN blocks b ON b.number = t.block_number
    WHERE t.hash = %(hash)s AND t.block_number >= first_kept_block()
    LIMIT 1
), transfers AS (
    SELECT x, row_number() OVER (ORDER BY x.ordinal) AS place
    FROM asked, token_transfers x
    WHERE x.ordinal BETWEEN (SELECT transfers_from FROM asked) AND (SELECT transfers_to FROM asked)
        AND x.transaction_index = asked.transaction_index
), trades AS (
    SELECT d, row_number() OVER (ORDER BY d.ordinal) AS place
    FROM asked, dex_trades d
    WHERE d.ordinal BETWEEN (SELECT trades_from FROM asked) AND (SELECT trades_to FROM asked)
        AND d.transaction_index = asked.transaction_index
)
SELECT index_version(),
    (SELECT json_list(string_agg(token_transfer_record(transfers.x, asked.hash, k,
        asked.timestamp)::text, ',' ORDER BY place))
    FROM asked, transfers
    JOIN tokens k ON k.address = (transfers.x).token_address
    WHERE place <= 200),
    (SELECT count(*) FROM transfers),
    (SELECT json_list(string_agg(dex_trade_record(trades.d, asked.hash,
        (SELECT x.name FROM dexes x WHERE x.dex_id = (trades.d).dex_id),
        asked.timestamp, i, o,
        (SELECT g.is_backed FROM trade_backing(trades.d, asked.block) AS g))::text, ',' ORDER BY place))
    FROM asked, trades
    LEFT JOIN tokens i ON i.address = (trades.d).token_in
    LEFT JOIN tokens o ON o.address = (trades.d).token_out
    WHERE place <= 200),
    (SELECT count(*) FROM trades);
