-- Removes the logs of addresses in blocks that are filled again.
-- params: numbers bigint[], addresses bytea[]
-- returns: nothing
-- index: contract_events_pkey
DELETE FROM contract_events e
USING unnest(%(numbers)s::bigint[], %(addresses)s::bytea[]) AS n (number, address)
WHERE e.ordinal >= first_ordinal_in(n.number) AND e.ordinal <= last_ordinal_in(n.number) AND e.address = n.address;
