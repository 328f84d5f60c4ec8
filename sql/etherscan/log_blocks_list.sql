-- The blocks of a range in which an address may have emitted logs, oldest first.
-- params: address bytea, block_from bigint, block_to bigint, limit integer
-- returns: one row: index version, array of block numbers, number of the newest indexed block
-- index: log_emitters_pkey, blocks_pkey
SELECT index_version(),
    ARRAY(
        SELECT e.block_number
        FROM log_emitters e
        WHERE e.address = %(address)s AND e.block_number >= %(block_from)s
            AND e.block_number <= %(block_to)s
        ORDER BY e.block_number ASC
        LIMIT %(limit)s),
    (SELECT max(b.number) FROM blocks b);
