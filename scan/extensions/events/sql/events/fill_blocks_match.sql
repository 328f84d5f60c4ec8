-- Whether blocks are indexed still, and logs of an address are complete from a block on, as when they were read.
-- params: address bytea, complete_from bigint, numbers bigint[], hashes bytea[]
-- returns: one row: a boolean
-- index: followed_contracts_pkey, blocks_pkey
SELECT EXISTS (SELECT FROM followed_contracts c
        WHERE c.address = %(address)s AND c.complete_from = %(complete_from)s)
    AND NOT EXISTS (SELECT FROM table_rebuilds r WHERE r.name = 'contract_events')
    AND (SELECT count(*) FROM unnest(%(numbers)s::bigint[], %(hashes)s::bytea[]) AS n (number, hash)
        JOIN blocks b ON b.number = n.number AND b.hash = n.hash) = cardinality(%(numbers)s::bigint[]);
