-- The last block at or before a time, and the first at or after it.
-- params: time_s bigint
-- literals: none
-- returns: one row: index version, the number before, the number after; null where there is none
-- index: blocks_pkey
SELECT index_version(),
    nullif(first_block_since(to_timestamp(%(time_s)s) + interval '1 microsecond'),
        (SELECT min(b.number) FROM blocks b)) - 1,
    nullif(first_block_since(to_timestamp(%(time_s)s)), (SELECT max(b.number) + 1 FROM blocks b));
