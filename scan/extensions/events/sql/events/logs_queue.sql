-- Has logs of a contract decoded again, in a range of blocks.
-- params: address bytea, topics bytea[] null, block_from bigint, block_to bigint
-- returns: nothing
-- index: contract_events_by_topic0
INSERT INTO undecoded_events (ordinal, address)
SELECT e.ordinal, e.address
FROM contract_events e
WHERE e.address = %(address)s AND (%(topics)s::bytea[] IS NULL OR e.topic0 = ANY (%(topics)s::bytea[]))
    AND e.block_number >= %(block_from)s AND e.block_number <= %(block_to)s
ON CONFLICT (ordinal) DO UPDATE SET queued_by = EXCLUDED.queued_by;
