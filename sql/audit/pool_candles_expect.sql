-- The candles that all trades give.
-- params: none
-- returns: nothing; makes the temporary table expected_pool_candles
-- index: none
CREATE TEMPORARY TABLE expected_pool_candles ON COMMIT DROP AS
SELECT pool_address, hour, trade_count, first_ordinal, volume0, volume1, open_amount0, open_amount1,
    high_amount0, high_amount1, low_amount0, low_amount1, close_amount0, close_amount1
FROM counted_candles(0, 9223372036854775807, NULL, NULL);
