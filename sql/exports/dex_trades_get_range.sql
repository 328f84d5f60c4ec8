-- Trades of a range of blocks, in the chain's order.
-- params: block_from bigint, block_to bigint
-- returns: the columns of its kind in scan/exports/columns.py; numeric as text
-- index: dex_trades_pkey, dexes_pkey, blocks_pkey
SELECT d.block_number, d.log_index, d.transaction_index,
    (SELECT e.name FROM dexes e WHERE e.dex_id = d.dex_id), d.pool_address, d.maker, d.token_in,
    d.token_out, d.amount_in::text, d.amount_out::text
FROM dex_trades d
WHERE d.ordinal BETWEEN (SELECT first FROM dex_trade_ordinals(%(block_from)s, %(block_to)s))
    AND (SELECT last FROM dex_trade_ordinals(%(block_from)s, %(block_to)s))
ORDER BY d.ordinal;
