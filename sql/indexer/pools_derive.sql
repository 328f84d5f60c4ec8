-- Counts the trades of blocks already written for their pools; sign -1 takes them away.
-- params: first_trade bigint, last_trade bigint, sign integer
-- returns: lists that passed a checkpoint: list, key, entries they had before
-- index: dex_trades_pkey, pools_pkey
WITH deltas AS (
    SELECT pool_address, count(*) * %(sign)s AS trades
    FROM dex_trades
    WHERE ordinal BETWEEN %(first_trade)s AND %(last_trade)s
    GROUP BY pool_address
), counted AS (
    UPDATE pools p
    SET trade_count = p.trade_count + d.trades
    FROM deltas d
    WHERE p.address = d.pool_address
    RETURNING p.address, p.trade_count, d.trades
)
SELECT 'dex_trades_by_pool', address, trade_count - trades
FROM counted
WHERE passes_checkpoint(trade_count - trades, trade_count);
