-- The hash of the newest block in which a contract emitted an event after which its implementation may be another.
-- params: address bytea, topics bytea[]
-- returns: one row: the hash in hex (null: there is none)
-- index: contract_events_by_topic0, blocks_pkey
SELECT (SELECT encode(b.hash, 'hex') FROM blocks b WHERE b.number = max(newest.number))
FROM unnest(%(topics)s::bytea[]) AS t (topic)
CROSS JOIN LATERAL (
    SELECT max(e.block_number) FROM contract_events e WHERE e.address = %(address)s AND e.topic0 = t.topic
) AS newest (number);
