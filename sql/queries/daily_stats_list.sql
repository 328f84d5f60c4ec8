-- What happened on each day of a range, oldest first, within the days that the chain has: its last days
-- where no dates are given. A day without blocks counts nothing; one that an older version began and
-- `scan backfill daily` has not counted yet has null.
-- params: date_from date null, date_to date null, default_days integer, max_days integer
-- literals: none
-- returns: one row: index version, first date, last date, days between them, data (JSON text), whether
--   all of it is counted; the dates are null before the first block
-- index: blocks_pkey, daily_stats_pkey
WITH ends AS MATERIALIZED (
    SELECT (SELECT day_of(b.timestamp) FROM blocks b ORDER BY b.number ASC LIMIT 1) AS oldest,
        greatest((SELECT day_of(b.timestamp) FROM blocks b ORDER BY b.number DESC LIMIT 1),
            (SELECT s.day FROM daily_stats s ORDER BY s.day DESC LIMIT 1)) AS newest
), span AS MATERIALIZED (
    SELECT coalesce(%(date_from)s, coalesce(%(date_to)s, newest) - (%(default_days)s - 1)) AS first,
        coalesce(%(date_to)s, greatest(newest, %(date_from)s)) AS last, oldest, newest
    FROM ends
), days AS (
    SELECT greatest(span.first, span.oldest) + place AS day
    FROM span, generate_series(0, least(%(max_days)s - 1,
        least(span.last, span.newest) - greatest(span.first, span.oldest))) AS place
    WHERE span.oldest IS NOT NULL
), records AS (
    SELECT d.day, k.is_counted, daily_stats_record(d.day, s, k.is_counted) AS record
    FROM days d
    LEFT JOIN daily_stats s ON s.day = d.day
    CROSS JOIN LATERAL (
        SELECT s.day IS NOT NULL OR coalesce((
            SELECT before.last_block + 1 = after.first_block
            FROM (SELECT o.last_block FROM daily_stats o WHERE o.day < d.day
                ORDER BY o.day DESC LIMIT 1) AS before,
                (SELECT o.first_block FROM daily_stats o WHERE o.day > d.day
                ORDER BY o.day ASC LIMIT 1) AS after
        ), false) AS is_counted
    ) AS k
)
SELECT index_version(), span.first::text, span.last::text, span.last - span.first + 1,
    json_list((SELECT string_agg(r.record, ',' ORDER BY r.day) FROM records r)),
    coalesce((SELECT bool_and(r.is_counted) FROM records r), true)
FROM span;
