-- Candles that are not what the trades give.
-- params: most integer
-- returns: pool and hour, what is stored and what is expected (jsonb, null where there is no row), how
--   many there are
-- index: none
SELECT hex(pool_address) || ' ' || iso(hour), CASE WHEN s.pool_address IS NOT NULL THEN to_jsonb(s) END,
    CASE WHEN e.pool_address IS NOT NULL THEN to_jsonb(e) END, count(*) OVER ()
FROM pool_candles s
FULL JOIN expected_pool_candles e USING (pool_address, hour)
WHERE s.pool_address IS NULL OR e.pool_address IS NULL OR to_jsonb(s) <> to_jsonb(e)
ORDER BY pool_address, hour
LIMIT %(most)s;
