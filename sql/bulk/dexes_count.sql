-- In DuckDB: exchanges by their trades, as dexes_changes() of sql/schema/changes.sql; files have names.
-- params: none
-- returns: name, how many trades it has
-- index: none
SELECT dex, count(*) FROM dex_trades_files GROUP BY dex ORDER BY dex;
