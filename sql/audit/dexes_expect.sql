-- How many trades each exchange has; one without trades has no row.
-- params: none
-- returns: nothing; makes the temporary table expected_dexes
-- index: none
CREATE TEMPORARY TABLE expected_dexes ON COMMIT DROP AS
SELECT dex_id, count(*) AS trade_count FROM dex_trades GROUP BY dex_id;
