-- From which trade on candles count.
-- params: none
-- returns: its ordinal; no row before the first block
-- index: none
SELECT first_trade FROM pool_candles_state;
