-- In DuckDB: pools with their numbers of trades.
-- params: none
-- returns: address, number of trades
-- index: none
SELECT pool_address, count(*) FROM dex_trades_files GROUP BY pool_address;
