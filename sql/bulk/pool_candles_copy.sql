-- In DuckDB: the text of rows of pool_candles.
-- params: none
-- returns: the table's columns
-- index: none
SELECT bytea_text(pool_address) AS pool_address, make_timestamp(hour * 3600000000)::VARCHAR || '+00' AS hour, trade_count, first_ordinal, volume0,
    volume1,
    uint256_text(open.amount0_0, open.amount0_1, open.amount0_2,
        open.amount0_3) AS open_amount0,
    uint256_text(open.amount1_0, open.amount1_1, open.amount1_2,
        open.amount1_3) AS open_amount1,
    uint256_text(high.amount0_0, high.amount0_1, high.amount0_2,
        high.amount0_3) AS high_amount0,
    uint256_text(high.amount1_0, high.amount1_1, high.amount1_2,
        high.amount1_3) AS high_amount1,
    uint256_text(low.amount0_0, low.amount0_1, low.amount0_2,
        low.amount0_3) AS low_amount0,
    uint256_text(low.amount1_0, low.amount1_1, low.amount1_2,
        low.amount1_3) AS low_amount1,
    uint256_text(close.amount0_0, close.amount0_1, close.amount0_2,
        close.amount0_3) AS close_amount0,
    uint256_text(close.amount1_0, close.amount1_1, close.amount1_2,
        close.amount1_3) AS close_amount1
FROM pool_candles;
