-- The block at which the lists begin of that of some addresses which is kept from the oldest block on.
-- params: addresses bytea[]
-- literals: none
-- returns: one row: index version, number of the block and its time (ISO 8601); nulls where none is kept
-- index: kept_addresses_pkey, blocks_pkey
SELECT index_version(), k.complete_from, (SELECT iso(b.timestamp) FROM blocks b WHERE b.number = k.complete_from)
FROM (SELECT min(complete_from) AS complete_from FROM kept_addresses WHERE address = ANY (%(addresses)s)) AS k;
