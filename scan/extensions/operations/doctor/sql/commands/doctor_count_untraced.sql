-- Counts the blocks that were indexed without traces in which contracts ran.
-- params: none
-- returns: number
-- index: blocks_pkey
SELECT coalesce((SELECT b.untraced_before + (b.traced IS FALSE)::integer
    FROM blocks b
    ORDER BY b.number DESC
    LIMIT 1), 0);
