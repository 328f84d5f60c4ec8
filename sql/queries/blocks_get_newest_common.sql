-- The newest block of the chain that a block is or descends from. From an orphaned block it goes back along
-- parents. Where the journal lacks one, it goes on at the block where that fork began, which may have been
-- orphaned later.
-- params: number bigint, hash bytea
-- literals: none
-- returns: one row: index version, number, hash (both null: neither the block nor a common one is
--   known); where the branch leaves no indexed block, the one before the first
-- index: blocks_hash_key, orphaned_blocks_pkey
WITH RECURSIVE branch AS (
    SELECT o.number, o.parent_hash, o.fork_hash
    FROM orphaned_blocks o
    WHERE o.hash = %(hash)s AND o.number = %(number)s
        AND NOT EXISTS (SELECT FROM blocks b WHERE b.hash = o.hash)
    UNION ALL
    SELECT o.number, o.parent_hash, o.fork_hash
    FROM branch r
    JOIN orphaned_blocks o ON o.hash = CASE
        WHEN EXISTS (SELECT FROM orphaned_blocks p WHERE p.hash = r.parent_hash)
            THEN r.parent_hash
        ELSE r.fork_hash END
    WHERE NOT EXISTS (SELECT FROM blocks b WHERE b.hash = r.parent_hash)
        AND NOT EXISTS (SELECT FROM blocks b WHERE b.hash = o.hash)
)
SELECT index_version(), c.number, c.hash
FROM (SELECT) AS one
LEFT JOIN LATERAL (
    SELECT b.number, b.hash
    FROM blocks b
    WHERE b.hash = %(hash)s AND b.number = %(number)s
    UNION ALL
    SELECT b.number, b.hash
    FROM branch r
    CROSS JOIN unnest(ARRAY[r.parent_hash, r.fork_hash]) AS ancestor (hash)
    JOIN blocks b ON b.hash = ancestor.hash
    UNION ALL
    SELECT r.number - 1, r.parent_hash
    FROM branch r
    JOIN chain h ON h.start_block = r.number
    ORDER BY number DESC
    LIMIT 1
) AS c ON true;
