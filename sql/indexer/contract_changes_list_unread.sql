-- Changes of tokens before which their decimals are to be read. It is planned each time: which index serves depends on
-- whether there are addresses.
-- params: limit integer, addresses bytea[] null, passed_over bytea[]
-- returns: address, block number of the change, number and hash of the block before it
-- index: contract_changes_unread, contract_changes_pkey, blocks_pkey
SELECT c.address, c.block_number, b.number, b.hash
FROM contract_changes c
JOIN blocks b ON b.number = c.block_number - 1
WHERE NOT c.is_read AND c.address <> ALL (%(passed_over)s::bytea[])
    AND (%(addresses)s::bytea[] IS NULL OR c.address = ANY (%(addresses)s::bytea[]))
ORDER BY c.block_number, c.address
LIMIT %(limit)s;
