-- Stores the numbers of trades of exchanges.
-- params: names text[], counts bigint[]
-- returns: nothing
-- index: dexes_name_key
UPDATE dexes x
SET trade_count = c.trades
FROM unnest(%(names)s::text[], %(counts)s::bigint[]) AS c (name, trades)
WHERE x.name = c.name;
