-- Compares candles with the trades that are not removed, and pools' numbers of trades with all candles.
-- params: span block_range, first_block bigint
-- returns: the kind of error, the number of such rows, one of them
-- index: none
SELECT what, count(*), min(name)
FROM (
    SELECT 'a candle is not made of its trades' AS what,
        hex(coalesce(s.pool_address, c.pool_address)) AS name
    FROM (
        SELECT e.*
        FROM pool_candles e
        WHERE e.first_ordinal >= (%(span)s::block_range).first_trade
    ) AS s
    FULL JOIN counted_candles((%(span)s::block_range).first_trade, (%(span)s::block_range).last_trade,
        NULL, NULL) c USING (pool_address, hour)
    WHERE ROW(c.*) IS DISTINCT FROM ROW(s.*)
        -- Of the hour in which the kept rows begin, some trades may be removed.
        AND hour > (SELECT date_trunc('hour', b.timestamp, 'UTC') FROM blocks b
            WHERE b.number = %(first_block)s)
    UNION ALL
    SELECT 'a pool has another number of trades than its candles', hex(p.address)
    FROM pools p
    LEFT JOIN (
        SELECT c.pool_address, sum(c.trade_count) AS trades
        FROM pool_candles c
        GROUP BY c.pool_address
    ) AS c ON c.pool_address = p.address
    WHERE p.trade_count <> coalesce(c.trades, 0)
) AS wrong
GROUP BY what
ORDER BY what;
