-- Counts the trades of blocks already written for their pools; sign -1 takes them away.
-- params: span block_range, sign integer
-- returns: lists that passed a checkpoint: list, key, entries they had before
-- index: dex_trades_pkey, pools_pkey
WITH changes AS (
    SELECT address, trade_count * %(sign)s AS trade_count
    FROM pools_changes(%(span)s::block_range)
), counted AS (
    UPDATE pools p
    SET trade_count = p.trade_count + c.trade_count
    FROM changes c
    WHERE c.address = p.address
    RETURNING p.address, p.trade_count, c.trade_count AS added
)
SELECT 'dex_trades_by_pool', address, trade_count - added
FROM counted
WHERE passes_checkpoint(trade_count - added, trade_count);
