-- Pools whose number of trades or whose volumes are not what the trades give.
-- params: most integer
-- returns: address as hex, what is stored, what is expected (jsonb), how many there are
-- index: none
SELECT hex(p.address),
    jsonb_build_object('trade_count', p.trade_count, 'volume0', p.volume0, 'volume1', p.volume1),
    jsonb_build_object('trade_count', coalesce(e.trade_count, 0), 'volume0', coalesce(e.volume0, 0),
        'volume1', coalesce(e.volume1, 0)),
    count(*) OVER ()
FROM pools p
LEFT JOIN expected_pools e USING (address)
WHERE (p.trade_count, p.volume0, p.volume1)
    <> (coalesce(e.trade_count, 0), coalesce(e.volume0, 0), coalesce(e.volume1, 0))
ORDER BY p.address
LIMIT %(most)s;
