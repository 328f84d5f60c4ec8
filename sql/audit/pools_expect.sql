-- How many trades each pool has; one without trades has no row.
-- params: none
-- returns: nothing; makes the temporary table expected_pools
-- index: none
CREATE TEMPORARY TABLE expected_pools ON COMMIT DROP AS
SELECT pool_address AS address, count(*) AS trade_count FROM dex_trades GROUP BY pool_address;
