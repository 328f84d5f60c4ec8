-- The numbers of rows that the chain has up to a block, which are the ordinals of the first rows after it.
-- params: number bigint, hash bytea
-- literals: none
-- returns: one row: index version, the number after the block's, then the rows of transactions,
--   token_transfers, internal_transfers, dex_trades and logs; null where the block is not indexed
-- index: blocks_pkey
SELECT index_version(), e.*
FROM (SELECT) AS always
LEFT JOIN (
    SELECT b.number + 1,
        b.transactions_before + b.transaction_count,
        b.token_transfers_before + b.token_transfer_count,
        b.internal_transfers_before + b.internal_transfer_count,
        b.dex_trades_before + b.dex_trade_count,
        b.logs_before + b.log_count
    FROM blocks b
    WHERE b.number = %(number)s AND b.hash = %(hash)s
) AS e ON true;
