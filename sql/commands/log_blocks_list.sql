-- The blocks of a range in which any of some addresses emitted logs.
-- params: addresses bytea[], block_from bigint, block_to bigint
-- returns: block number for each, ascending
-- index: log_emitters_pkey
SELECT DISTINCT e.block_number
FROM log_emitters e
WHERE e.address = ANY (%(addresses)s) AND e.block_number BETWEEN %(block_from)s AND %(block_to)s
ORDER BY e.block_number;
