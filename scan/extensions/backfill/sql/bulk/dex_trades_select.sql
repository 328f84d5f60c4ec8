-- In DuckDB: trades among the swaps of a file, in the chain's order.
-- params: file text
-- returns: columns of dex_trades in parquet.py of exports
-- index: none
SELECT s.block_number, s.log_index, s.transaction_index, p.dex, s.pool_address, s.maker,
    CASE WHEN s.is_token0_in THEN p.token0 ELSE p.token1 END AS token_in,
    CASE WHEN s.is_token0_in THEN p.token1 ELSE p.token0 END AS token_out,
    s.amount_in_0, s.amount_in_1, s.amount_in_2, s.amount_in_3,
    s.amount_out_0, s.amount_out_1, s.amount_out_2, s.amount_out_3
FROM read_parquet(%(file)s) s
JOIN indexed_pools p ON p.address = s.pool_address AND p.block_number <= s.block_number
ORDER BY s.block_number, s.log_index;
