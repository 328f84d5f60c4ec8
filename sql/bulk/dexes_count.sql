-- In DuckDB: exchanges by their trades.
-- params: none
-- returns: name, how many trades it has
-- index: none
SELECT dex, count(*) FROM dex_trades_files GROUP BY dex ORDER BY dex;
