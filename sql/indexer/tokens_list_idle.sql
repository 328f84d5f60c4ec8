-- The first block of the newest day, and the next tokens after an address that were not read since, unless that day is
-- `done`.
-- params: done bigint, after bytea, limit integer
-- literals: limit
-- returns: block number or null, addresses bytea[] or null
-- index: tokens_pkey, daily_stats_first_block_key
SELECT day.first_block, (
    SELECT array_agg(i.address)
    FROM (
        SELECT k.address
        FROM tokens k
        WHERE day.first_block <> %(done)s AND k.supply_block < day.first_block
            AND k.address > %(after)s AND k.ended_in IS NULL
        ORDER BY k.address
        LIMIT %(limit)s) AS i)
FROM (SELECT max(s.first_block) AS first_block FROM daily_stats s) AS day;
