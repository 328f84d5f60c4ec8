-- Makes the number of trades of exchanges what the trades give.
-- params: none
-- returns: nothing
-- index: none
WITH unused AS (
    DELETE FROM dexes x WHERE NOT EXISTS (SELECT FROM expected_dexes e WHERE e.dex_id = x.dex_id)
)
UPDATE dexes x
SET trade_count = e.trade_count
FROM expected_dexes e
WHERE e.dex_id = x.dex_id AND x.trade_count <> e.trade_count;
