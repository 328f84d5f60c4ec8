-- The hash of the newest day's first block, and the next tokens after an address that were not read since, unless that
-- block is `done`.
-- params: done bytea, after bytea, limit integer
-- literals: limit
-- returns: block hash or null, addresses bytea[] or null
-- index: tokens_pkey, daily_stats_first_block_key, blocks_pkey
SELECT day.hash, (
    SELECT array_agg(i.address)
    FROM (
        SELECT k.address
        FROM tokens k
        WHERE day.hash <> %(done)s AND k.supply_block < day.number
            AND k.address > %(after)s AND k.ended_in IS NULL
        ORDER BY k.address
        LIMIT %(limit)s) AS i)
FROM (SELECT) AS always
LEFT JOIN blocks day ON day.number = (SELECT max(s.first_block) FROM daily_stats s);
