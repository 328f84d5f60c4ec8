-- One block, by number or by hash.
-- params: number bigint null, hash bytea null
-- plan depends on: nothing
-- returns: no row, or the record as JSON text
-- index: blocks_pkey, blocks_hash_key
SELECT block_record(b)::text
FROM blocks b
WHERE (%(number)s::bigint IS NULL OR b.number = %(number)s)
    AND (%(hash)s::bytea IS NULL OR b.hash = %(hash)s);
