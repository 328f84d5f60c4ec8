-- Columns of trades to compare with the node.
-- params: block_from bigint, block_to bigint
-- returns: block number, log index; transaction index, pool, maker, tokens and amounts in and out
-- index: dex_trades_pkey, blocks_pkey
SELECT block_number, log_index, transaction_index, pool_address, maker, token_in, token_out,
    amount_in, amount_out
FROM dex_trades
WHERE ordinal >= (SELECT b.dex_trades_before FROM blocks b WHERE b.number = %(block_from)s)
    AND ordinal < (SELECT b.dex_trades_before + b.dex_trade_count FROM blocks b
        WHERE b.number = %(block_to)s);
