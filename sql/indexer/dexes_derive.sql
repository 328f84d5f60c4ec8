-- Counts the trades of blocks already written for their exchanges; sign -1 takes them away.
-- params: span block_range, sign integer
-- returns: lists that passed a checkpoint: list, key, entries they had before
-- index: dex_trades_pkey, dexes_pkey
WITH changes AS (
    SELECT dex_id, trade_count * %(sign)s AS trade_count
    FROM dexes_changes(%(span)s::block_range)
), counted AS (
    UPDATE dexes x
    SET trade_count = x.trade_count + c.trade_count
    FROM changes c
    WHERE x.dex_id = c.dex_id
    RETURNING x.name, x.trade_count, c.trade_count AS added
)
SELECT 'dex_trades_by_dex', convert_to(name, 'UTF8'), trade_count - added
FROM counted
WHERE passes_checkpoint(trade_count - added, trade_count);
