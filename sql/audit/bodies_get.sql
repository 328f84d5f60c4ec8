-- The stored transactions and receipts of blocks that have some.
-- params: block_from bigint, block_to bigint
-- returns: block number, digest, body
-- index: block_bodies_pkey
SELECT block_number, digest, body
FROM block_bodies
WHERE block_number BETWEEN %(block_from)s AND %(block_to)s;
