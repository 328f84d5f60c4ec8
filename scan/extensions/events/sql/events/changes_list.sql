-- The newest blocks in which the implementation of a contract may have changed, the oldest first, and the head.
-- params: address bytea, most integer
-- returns: number and hash of each
-- index: contract_changes_pkey, blocks_pkey
SELECT b.number, b.hash
FROM (
    (SELECT c.block_number FROM contract_changes c WHERE c.address = %(address)s
    ORDER BY c.block_number DESC LIMIT %(most)s)
    UNION
    (SELECT max(c.block_number) FROM contracts c WHERE c.address = %(address)s)
    UNION
    (SELECT max(o.number) FROM blocks o)
) AS n (number)
JOIN blocks b ON b.number = n.number
ORDER BY b.number;
