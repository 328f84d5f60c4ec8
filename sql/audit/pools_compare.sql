-- Pools whose number of trades is not what the trades give.
-- params: most integer
-- returns: address as hex, what is stored, what is expected (jsonb), how many there are
-- index: none
SELECT hex(p.address), jsonb_build_object('trade_count', p.trade_count),
    jsonb_build_object('trade_count', coalesce(e.trade_count, 0)), count(*) OVER ()
FROM pools p
LEFT JOIN expected_pools e USING (address)
WHERE p.trade_count <> coalesce(e.trade_count, 0)
ORDER BY p.address
LIMIT %(most)s;
