-- Trades to compare with the node, whole: what is not compared is seen, too.
-- params: block_from bigint, block_to bigint
-- returns: jsonb by column
-- index: dex_trades_pkey, blocks_pkey
SELECT to_jsonb(d)
FROM dex_trades d
WHERE d.ordinal >= (SELECT b.dex_trades_before FROM blocks b WHERE b.number = %(block_from)s)
    AND d.ordinal < (SELECT b.dex_trades_before + b.dex_trade_count FROM blocks b
        WHERE b.number = %(block_to)s);
