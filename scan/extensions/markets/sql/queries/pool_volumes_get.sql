-- The volumes of a pool in the hour of the newest block and the 23, or 167, hours before it, and in all.
-- params: address bytea
-- literals: none
-- returns: one row: index version, JSON text or null where there is no such pool
-- index: blocks_pkey, pools_pkey, pool_candles_pkey, pool_volumes_pkey
WITH newest AS MATERIALIZED (
    SELECT date_trunc('hour', b.timestamp, 'UTC') AS hour FROM blocks b ORDER BY b.number DESC LIMIT 1
), spans (name, hours) AS (
    VALUES ('24h', 24), ('7d', 168)
), volumes AS (
    SELECT 1 AS position, s.name, n.hour - (s.hours - 1) * interval '1 hour' AS start,
        coalesce(sum(c.volume0), 0) AS volume0, coalesce(sum(c.volume1), 0) AS volume1,
        coalesce(sum(c.trade_count), 0) AS trades
    FROM newest n
    CROSS JOIN spans s
    LEFT JOIN pool_candles c ON c.pool_address = %(address)s
        AND c.hour > n.hour - s.hours * interval '1 hour' AND c.hour <= n.hour
    GROUP BY s.name, s.hours, n.hour
    UNION ALL
    SELECT 2, 'all', NULL, coalesce(v.volume0, 0), coalesce(v.volume1, 0), p.trade_count
    FROM pools p
    LEFT JOIN pool_volumes v ON v.pool_address = p.address
    WHERE p.address = %(address)s
)
SELECT index_version(), (
    SELECT format('{"address":"%%s","poolId":%%s,"complete":true,"volumes":%%s}',
        hex(pool_contract(p.address)), json_pool_id(p.address), json_list((
        SELECT string_agg(
            volume_record(v.name, v.start, v.volume0, v.volume1, v.trades::bigint),
            ',' ORDER BY v.position, v.start DESC)
        FROM volumes v)))
    FROM pools p
    WHERE p.address = %(address)s);
