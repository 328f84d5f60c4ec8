-- The mean time between blocks and their parents, of each day of a range that has such blocks, oldest first.
-- The genesis block and the first indexed one have no parent here; genesis may have any time.
-- params: date_from date, date_to date
-- literals: none
-- returns: one row: index version, JSON array of {date, seconds}
-- index: daily_stats_pkey, blocks_pkey
SELECT index_version(), coalesce(json_agg(json_build_object(
    'date', s.day,
    'seconds', round(extract(epoch FROM last.timestamp - start.timestamp) / (last.number - start.number), 2)::text
) ORDER BY s.day), '[]')::text
FROM daily_stats s
JOIN blocks last ON last.number = s.last_block
JOIN LATERAL (
    SELECT b.number, b.timestamp
    FROM blocks b
    WHERE b.number >= greatest(s.first_block - 1, 1) AND b.number < s.last_block
    ORDER BY b.number ASC
    LIMIT 1
) AS start ON true
WHERE s.day BETWEEN %(date_from)s AND %(date_to)s;
