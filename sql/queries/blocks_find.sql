-- The number and hash of one block, found by either of them; of the newest, where neither is given.
-- params: number bigint null, hash bytea null
-- literals: none
-- returns: one row: index version, number and hash, null where it is not indexed
-- index: blocks_pkey, blocks_hash_key
SELECT index_version(), b.number, b.hash
FROM (SELECT 1) AS always
LEFT JOIN (
    SELECT number, hash FROM blocks WHERE number = %(number)s
    UNION ALL
    SELECT number, hash FROM blocks WHERE hash = %(hash)s
    UNION ALL
    SELECT number, hash FROM blocks
    WHERE %(number)s::bigint IS NULL AND %(hash)s::bytea IS NULL
        AND number = (SELECT max(number) FROM blocks)
) AS b ON true;
