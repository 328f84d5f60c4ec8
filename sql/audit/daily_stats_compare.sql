-- Days whose counts are not what the rows give.
-- params: most integer
-- returns: the day, what is stored and what is expected (jsonb, null where there is no row), how many
--   there are
-- index: none
SELECT day::text, CASE WHEN s.day IS NOT NULL THEN to_jsonb(s) END,
    CASE WHEN e.day IS NOT NULL THEN to_jsonb(e) END, count(*) OVER ()
FROM daily_stats s
FULL JOIN expected_daily_stats e USING (day)
WHERE s.day IS NULL OR e.day IS NULL OR to_jsonb(s) <> to_jsonb(e)
ORDER BY day
LIMIT %(most)s;
