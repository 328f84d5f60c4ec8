-- Exchanges whose number of trades is not what the trades give.
-- params: most integer
-- returns: name, what is stored, what is expected or null (jsonb), how many there are
-- index: none
SELECT x.name, jsonb_build_object('trade_count', x.trade_count),
    jsonb_build_object('trade_count', e.trade_count), count(*) OVER ()
FROM dexes x
LEFT JOIN expected_dexes e USING (dex_id)
WHERE x.trade_count IS DISTINCT FROM e.trade_count
ORDER BY x.name
LIMIT %(most)s;
