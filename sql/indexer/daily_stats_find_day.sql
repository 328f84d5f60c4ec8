-- On which day a block is.
-- params: block_number bigint
-- returns: the first block of its day where that is counted, else null; when the day of its timestamp
--   begins, in Unix seconds; no row where there is no such block
-- index: blocks_pkey, daily_stats_first_block_key, daily_stats_pkey
SELECT (SELECT s.first_block FROM daily_stats s WHERE s.day = counted_day(b.number)),
    extract(epoch FROM date_trunc('day', b.timestamp, 'UTC'))::bigint
FROM blocks b
WHERE b.number = %(block_number)s;
