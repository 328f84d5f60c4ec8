-- The number and hash of one block, found by either of them.
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
) AS b ON true;
