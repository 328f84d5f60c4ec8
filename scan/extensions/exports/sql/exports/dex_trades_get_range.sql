-- Trades of a range of blocks, in the chain's order.
-- params: columns identifiers, block_from bigint, block_to bigint
-- returns: the columns, which are those of its kind in parquet.py
-- index: dex_trades_pkey, dexes_pkey, blocks_pkey
SELECT %(columns)s
FROM dex_trades d
LEFT JOIN LATERAL (SELECT e.name AS dex FROM dexes e WHERE e.dex_id = d.dex_id) AS x ON true
WHERE d.ordinal BETWEEN (SELECT first FROM dex_trade_ordinals(%(block_from)s, %(block_to)s))
    AND (SELECT last FROM dex_trade_ordinals(%(block_from)s, %(block_to)s))
ORDER BY d.ordinal;
