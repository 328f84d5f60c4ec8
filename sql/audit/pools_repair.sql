-- Makes the number of trades and the volumes of pools what the trades give.
-- params: none
-- returns: nothing
-- index: none
UPDATE pools p
SET trade_count = coalesce(e.trade_count, 0),
    volume0 = coalesce(e.volume0, 0),
    volume1 = coalesce(e.volume1, 0)
FROM pools o
LEFT JOIN expected_pools e USING (address)
WHERE o.address = p.address
    AND (p.trade_count, p.volume0, p.volume1)
        <> (coalesce(e.trade_count, 0), coalesce(e.volume0, 0), coalesce(e.volume1, 0));
