-- The contracts without an ABI of their own, by the newest block in which each emitted logs.
-- params: none
-- returns: address, implementations of which the views are, number and hash of the block; number and hash of the head
-- index: log_emitters_pkey, blocks_pkey
SELECT c.address, c.implementations, b.number, b.hash, head.number, head.hash
FROM followed_contracts c
CROSS JOIN LATERAL (SELECT max(e.block_number) FROM log_emitters e WHERE e.address = c.address) AS newest (number)
JOIN blocks b ON b.number = newest.number
CROSS JOIN (SELECT o.number, o.hash FROM blocks o ORDER BY o.number DESC LIMIT 1) AS head
WHERE c.abi IS NULL;
