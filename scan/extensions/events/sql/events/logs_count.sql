-- How many logs of an event of a followed contract are stored, at most so many.
-- params: address bytea, topic0 bytea, most integer
-- returns: one row: the number
-- index: contract_events_by_topic0
SELECT count(*)
FROM (
    SELECT FROM contract_events e WHERE e.address = %(address)s AND e.topic0 = %(topic0)s LIMIT %(most)s
) AS counted;
