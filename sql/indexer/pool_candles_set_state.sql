-- After blocks were written, unwound or counted: candles count trades up to the head, from this one on
-- where it is given, else from the same one as before as far as it is still there.
-- params: first_trade bigint null
-- returns: nothing
-- index: blocks_pkey
UPDATE pool_candles_state s
SET first_trade = coalesce(%(first_trade)s,
        least(s.first_trade, b.dex_trades_before + b.dex_trade_count)),
    last_hash = b.hash
FROM (
    SELECT dex_trades_before, dex_trade_count, hash FROM blocks ORDER BY number DESC LIMIT 1
) AS b;
