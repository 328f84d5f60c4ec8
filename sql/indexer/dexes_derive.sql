-- Counts the trades of blocks already written for their exchanges; sign -1 takes them away.
-- params: first_trade bigint, last_trade bigint, sign integer
-- returns: lists that passed a checkpoint: list, key, entries they had before
-- index: dex_trades_pkey, dexes_pkey
WITH deltas AS (
    SELECT dex_id, count(*) * %(sign)s AS trades
    FROM dex_trades
    WHERE ordinal BETWEEN %(first_trade)s AND %(last_trade)s
    GROUP BY dex_id
), counted AS (
    UPDATE dexes x
    SET trade_count = x.trade_count + d.trades
    FROM deltas d
    WHERE x.dex_id = d.dex_id
    RETURNING x.name, x.trade_count, d.trades
)
SELECT 'dex_trades_by_dex', convert_to(name, 'UTF8'), trade_count - trades
FROM counted
WHERE passes_checkpoint(trade_count - trades, trade_count);
