-- The newest blocks before one in which an address, or a child contract, emitted logs, or was created.
-- params: address bytea, block_from bigint, before bigint, most integer
-- returns: number, hash, and the addresses that did
-- index: log_emitters_pkey, log_emitters_by_block, followed_children_by_contract, blocks_pkey
SELECT b.number, b.hash, n.emitters
FROM (
    (SELECT e.block_number, ARRAY[e.address] AS emitters
    FROM log_emitters e
    WHERE e.address = %(address)s AND e.block_number >= %(block_from)s AND e.block_number < %(before)s
    ORDER BY e.block_number DESC
    LIMIT %(most)s)
    UNION ALL
    (SELECT e.block_number, array_agg(e.address)
    FROM followed_children c
    JOIN log_emitters e ON e.address = c.address AND e.block_number >= c.block_number
    WHERE c.followed_as = %(address)s AND e.block_number >= %(block_from)s AND e.block_number < %(before)s
    GROUP BY e.block_number
    ORDER BY e.block_number DESC
    LIMIT %(most)s)
) AS n
JOIN blocks b ON b.number = n.block_number
ORDER BY b.number DESC;
