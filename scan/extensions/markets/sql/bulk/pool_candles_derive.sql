-- In DuckDB: candles of pools by the hour, as counted_candles() of sql/schema/changes.sql makes them. That
-- compares prices by products, which are inexact here: the product of two BIGNUMs is a DOUBLE. It reads
-- blocks.
-- params: none
-- returns: the columns of the table pool_candles in DuckDB
-- index: none
WITH trades AS (
    SELECT d.ordinal, d.pool_address, b.timestamp_s // 3600 AS hour,
        CASE WHEN d.token_in = p.token0 THEN {'amount0_0': d.amount_in_0, 'amount0_1': d.amount_in_1,
            'amount0_2': d.amount_in_2, 'amount0_3': d.amount_in_3,
            'amount1_0': d.amount_out_0, 'amount1_1': d.amount_out_1,
            'amount1_2': d.amount_out_2, 'amount1_3': d.amount_out_3}
        ELSE {'amount0_0': d.amount_out_0, 'amount0_1': d.amount_out_1,
            'amount0_2': d.amount_out_2, 'amount0_3': d.amount_out_3,
            'amount1_0': d.amount_in_0, 'amount1_1': d.amount_in_1,
            'amount1_2': d.amount_in_2, 'amount1_3': d.amount_in_3} END AS amounts
    FROM dex_trades d
    JOIN indexed_pools p ON p.address = d.pool_address
    JOIN blocks b ON b.number = d.block_number
), priced AS (
    SELECT *, CASE WHEN
            amounts.amount0_0 | amounts.amount0_1 | amounts.amount0_2 | amounts.amount0_3 > 0
            AND amounts.amount1_0 | amounts.amount1_1 | amounts.amount1_2 | amounts.amount1_3 > 0
        THEN price_order(amounts.amount0_0, amounts.amount0_1, amounts.amount0_2, amounts.amount0_3,
            amounts.amount1_0, amounts.amount1_1, amounts.amount1_2, amounts.amount1_3) END AS price
    FROM trades
)
SELECT pool_address, hour, count(*) AS trade_count, min(ordinal) AS first_ordinal,
    sum_text(sum(amounts.amount0_0), sum(amounts.amount0_1), sum(amounts.amount0_2),
        sum(amounts.amount0_3)) AS volume0,
    sum_text(sum(amounts.amount1_0), sum(amounts.amount1_1), sum(amounts.amount1_2),
        sum(amounts.amount1_3)) AS volume1,
    arg_min(amounts, ordinal) FILTER (WHERE price IS NOT NULL) AS open,
    arg_max(amounts, {'price': price, 'place': -ordinal}) FILTER (WHERE price IS NOT NULL) AS high,
    arg_min(amounts, {'price': price, 'place': ordinal}) FILTER (WHERE price IS NOT NULL) AS low,
    arg_max(amounts, ordinal) FILTER (WHERE price IS NOT NULL) AS close
FROM priced
GROUP BY pool_address, hour;
