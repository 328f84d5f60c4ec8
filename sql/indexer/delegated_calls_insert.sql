-- Stores where calls were passed on, of blocks in their order, where that is new: the last of each block counts.
-- params: addresses bytea[], selectors bytea[], block_numbers bigint[], implementations bytea[]
-- literals: none
-- returns: nothing
-- index: delegated_calls_pkey
INSERT INTO delegated_calls (address, selector, block_number, implementation)
SELECT c.address, c.selector, c.block_number, c.implementation
FROM (
    SELECT t.*, lag(t.implementation) OVER earlier AS before, row_number() OVER earlier = 1 AS is_first
    FROM unnest(%(addresses)s::bytea[], %(selectors)s::bytea[], %(block_numbers)s::bigint[],
        %(implementations)s::bytea[]) AS t (address, selector, block_number, implementation)
    WINDOW earlier AS (PARTITION BY t.address, t.selector ORDER BY t.block_number)) AS c
LEFT JOIN LATERAL (
    SELECT d.implementation
    FROM delegated_calls d
    WHERE c.is_first AND d.address = c.address AND d.selector = c.selector AND d.block_number < c.block_number
    ORDER BY d.block_number DESC
    LIMIT 1) AS stored ON true
WHERE c.implementation IS DISTINCT FROM CASE WHEN c.is_first THEN stored.implementation ELSE c.before END
ON CONFLICT (address, selector, block_number) DO NOTHING;
