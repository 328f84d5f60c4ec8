-- Internal transfers by several of address, sender and recipient, counted from their end.
-- They are read from the index of `list`, which leaves the least to filter; partitions outside of
-- `lowest` and `highest` are not opened: for these three see queries/lists_get_bounds.
-- params: list text, address bytea null, from bytea null, to bytea null, form text, block_from bigint,
--   block_to bigint, has_lower boolean, has_upper boolean, direction text, limit integer,
--   offset bigint, after bigint null, seen_block bigint null, lowest bigint, highest bigint
-- literals: list, has_lower, has_upper, direction, limit
-- returns: one row: index version, data (JSON text), count in data, null: the total is not known;
--   for cursors: ordinal of the last row where more follow, newest block of the rows, block seen;
--   blocks that lack traces (null: none has any)
-- index: internal_transfers_by_from, internal_transfers_by_to, internal_transfers_to_self,
--   internal_transfers_pkey, transactions_pkey, blocks_pkey
WITH ordinals AS MATERIALIZED (
    SELECT CASE %(direction)s WHEN 'asc' THEN greatest(first, %(after)s + 1) ELSE first END AS first,
        CASE %(direction)s WHEN 'desc' THEN least(last, %(after)s - 1) ELSE last END AS last
    FROM internal_transfer_ordinals(%(block_from)s, %(block_to)s)
), page AS (
    SELECT ordinal
    FROM (
        (
            SELECT i.ordinal
            FROM internal_transfers i
            WHERE CASE %(list)s
                WHEN 'internal_transfers_by_address' THEN i.from_address = %(address)s
                WHEN 'internal_transfers_by_from' THEN i.from_address = %(from)s
                WHEN 'internal_transfers_by_to' THEN i.to_address = %(to)s
                    AND i.to_address IS NOT DISTINCT FROM i.from_address
                WHEN 'internal_transfers_to_self' THEN i.to_address = %(to)s
                    AND i.to_address IS NOT DISTINCT FROM i.from_address
                ELSE true END
                AND (%(address)s IS NULL OR %(address)s IN (i.from_address, i.to_address))
                AND (%(from)s IS NULL OR i.from_address = %(from)s)
                AND (%(to)s IS NULL OR i.to_address = %(to)s)
                AND i.ordinal >= %(lowest)s AND i.ordinal <= %(highest)s
                AND (NOT %(has_lower)s OR i.ordinal >= (SELECT first FROM ordinals))
                AND (NOT %(has_upper)s
                    OR (i.ordinal, i.ordinal) <= (SELECT last, last FROM ordinals))
            ORDER BY CASE WHEN %(direction)s = 'asc' THEN i.ordinal END ASC,
                CASE WHEN %(direction)s = 'desc' THEN i.ordinal END DESC
            LIMIT entries_to_read(false, %(offset)s, %(limit)s)
        )
        UNION ALL
        (
            SELECT i.ordinal
            FROM internal_transfers i
            WHERE CASE %(list)s
                WHEN 'internal_transfers_by_address' THEN i.to_address = %(address)s
                WHEN 'internal_transfers_by_to' THEN i.to_address = %(to)s
                ELSE false END AND i.to_address <> i.from_address
                AND (%(address)s IS NULL OR %(address)s IN (i.from_address, i.to_address))
                AND (%(from)s IS NULL OR i.from_address = %(from)s)
                AND (%(to)s IS NULL OR i.to_address = %(to)s)
                AND i.ordinal >= %(lowest)s AND i.ordinal <= %(highest)s
                AND (NOT %(has_lower)s OR i.ordinal >= (SELECT first FROM ordinals))
                AND (NOT %(has_upper)s
                    OR (i.ordinal, i.ordinal) <= (SELECT last, last FROM ordinals))
            ORDER BY CASE WHEN %(direction)s = 'asc' THEN i.ordinal END ASC,
                CASE WHEN %(direction)s = 'desc' THEN i.ordinal END DESC
            LIMIT entries_to_read(false, %(offset)s, %(limit)s)
        )
    ) AS places
    ORDER BY CASE WHEN %(direction)s = 'asc' THEN ordinal END ASC,
        CASE WHEN %(direction)s = 'desc' THEN ordinal END DESC
    LIMIT %(limit)s
    OFFSET %(offset)s
)
SELECT index_version(),
    json_list(string_agg(entry.record, ',')),
    count(*),
    null::bigint,
    CASE WHEN count(*) = %(limit)s
        THEN CASE %(direction)s WHEN 'asc' THEN max(entry.ordinal) ELSE min(entry.ordinal) END END,
    (SELECT block_reference(b) FROM blocks b WHERE b.number = max(entry.block_number)),
    (SELECT block_reference(b) FROM blocks b WHERE b.number = %(seen_block)s),
    untraced_blocks()
FROM internal_transfer_records(ARRAY(SELECT ordinal FROM page), %(form)s) AS entry;
