-- Makes the number of trades of pools what the trades give.
-- params: none
-- returns: nothing
-- index: none
UPDATE pools p
SET trade_count = coalesce(e.trade_count, 0)
FROM pools o
LEFT JOIN expected_pools e USING (address)
WHERE o.address = p.address AND p.trade_count <> coalesce(e.trade_count, 0);
