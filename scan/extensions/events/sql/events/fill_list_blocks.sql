-- The newest blocks before one in which an address emitted logs, or was created.
-- params: address bytea, block_from bigint, before bigint, most integer
-- returns: number and hash
-- index: log_emitters_pkey, blocks_pkey
SELECT b.number, b.hash
FROM (
    SELECT e.block_number FROM log_emitters e
    WHERE e.address = %(address)s AND e.block_number >= %(block_from)s AND e.block_number < %(before)s
    ORDER BY e.block_number DESC
    LIMIT %(most)s
) AS n
JOIN blocks b ON b.number = n.block_number
ORDER BY b.number DESC;
