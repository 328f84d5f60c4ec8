-- In DuckDB: exchanges with their numbers of trades, as dexes_changes() of sql/schema/changes.sql counts
-- them. Files have names in the place of numbers.
-- params: none
-- returns: name, number of trades
-- index: none
SELECT dex, count(*) FROM dex_trades_files GROUP BY dex ORDER BY dex;
