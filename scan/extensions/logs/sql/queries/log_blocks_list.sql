-- The blocks of a range in which an address may have emitted logs, from either end of it.
-- params: address bytea, block_from bigint, block_to bigint, direction text, limit integer
-- literals: direction, limit
-- returns: one row: index version, array of block numbers in that order
-- index: log_emitters_pkey
SELECT index_version(),
    ARRAY(
        SELECT e.block_number
        FROM log_emitters e
        WHERE e.address = %(address)s AND e.block_number >= %(block_from)s
            AND e.block_number <= %(block_to)s
        ORDER BY CASE WHEN %(direction)s = 'asc' THEN e.block_number END ASC,
            CASE WHEN %(direction)s = 'desc' THEN e.block_number END DESC
        LIMIT %(limit)s);
