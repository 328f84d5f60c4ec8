-- Has logs of a contract decoded again, in a range of blocks.
-- params: address bytea, topics bytea[] null, block_from bigint, block_to bigint
-- returns: nothing
-- index: contract_events_pkey, contract_events_by_topic0, followed_children_by_contract
INSERT INTO undecoded_events (ordinal, address)
SELECT e.ordinal, %(address)s
FROM (
    SELECT %(address)s::bytea UNION ALL SELECT c.address FROM followed_children c WHERE c.followed_as = %(address)s
) AS n (address)
JOIN contract_events e ON e.address = n.address
WHERE (%(topics)s::bytea[] IS NULL OR e.topic0 = ANY (%(topics)s::bytea[]))
    AND e.ordinal >= first_ordinal_in(%(block_from)s) AND e.ordinal <= last_ordinal_in(%(block_to)s)
ON CONFLICT (ordinal) DO UPDATE SET queued_by = EXCLUDED.queued_by;
