-- One block: by its number, by its hash, or the newest where neither is given.
-- params: number bigint null, hash bytea null, has_number boolean, has_hash boolean
-- returns: one row: index version, the record as JSON text or null
-- index: blocks_pkey, blocks_hash_key
SELECT index_version(), (
    SELECT block_record(b)::text
    FROM blocks b
    WHERE (NOT %(has_number)s OR b.number = %(number)s)
        AND (NOT %(has_hash)s OR b.hash = %(hash)s)
        AND (%(has_number)s OR %(has_hash)s OR b.number = (SELECT max(number) FROM blocks)));
