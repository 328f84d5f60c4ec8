-- In DuckDB: pools by their trades.
-- params: none
-- returns: address, how many trades it has
-- index: none
SELECT pool_address, count(*) FROM dex_trades_files GROUP BY pool_address;
