-- The first block of some in which an address emitted logs, or was created.
-- params: address bytea, first bigint, past bigint
-- returns: number and hash; none where there is none
-- index: log_emitters_pkey, blocks_pkey
SELECT b.number, b.hash
FROM log_emitters e
JOIN blocks b ON b.number = e.block_number
WHERE e.address = %(address)s AND e.block_number >= %(first)s AND e.block_number < %(past)s
ORDER BY e.block_number
LIMIT 1;
