-- Statistics of each day of a range, oldest first, within the days of the chain: its last days where no
-- dates are given. A day without blocks counts nothing.
-- params: date_from date null, date_to date null, default_days integer, max_days integer
-- literals: none
-- returns: one row: index version, first date, last date, days between them, data (JSON text);
--   the dates are null before the first block
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
    SELECT greatest(span.first, span.oldest) + day_number AS day
    FROM span, generate_series(0, least(%(max_days)s - 1,
        least(span.last, span.newest) - greatest(span.first, span.oldest))) AS day_number
    WHERE span.oldest IS NOT NULL
)
SELECT index_version(), span.first::text, span.last::text, span.last - span.first + 1, json_list((
    SELECT string_agg(daily_stats_record(d.day, s), ',' ORDER BY d.day)
    FROM days d
    LEFT JOIN daily_stats s ON s.day = d.day))
FROM span;
