-- How many trades each pool has, and what was traded in them; one without trades has no row. Reads the
-- expected candles.
-- params: none
-- returns: nothing; makes the temporary table expected_pools
-- index: none
CREATE TEMPORARY TABLE expected_pools ON COMMIT DROP AS
SELECT d.pool_address AS address, d.trade_count, coalesce(c.volume0, 0) AS volume0,
    coalesce(c.volume1, 0) AS volume1
FROM (SELECT pool_address, count(*) AS trade_count FROM dex_trades GROUP BY pool_address) AS d
LEFT JOIN (
    SELECT pool_address, sum(volume0) AS volume0, sum(volume1) AS volume1
    FROM expected_pool_candles
    GROUP BY pool_address
) AS c ON c.pool_address = d.pool_address;
