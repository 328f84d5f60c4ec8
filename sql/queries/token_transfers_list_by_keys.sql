-- Token transfers by several of address, sender, recipient, token and type of token, counted from
-- their end.
-- They are read from the index of `list`, which leaves the least to filter; partitions outside of
-- `lowest` and `highest` are not opened: for these three see queries/lists_get_bounds.
-- params: list text, address bytea null, from bytea null, to bytea null, token bytea null, type text null,
--   form text, block_from bigint, block_to bigint, has_lower boolean, has_upper boolean,
--   direction text, limit integer, offset bigint, after bigint null, seen_block bigint null,
--   lowest bigint, highest bigint
-- literals: list, has_lower, has_upper, direction, limit
-- returns: one row: index version, data (JSON text), count in data, null: the total is not known;
--   for cursors: ordinal of the last row where more follow, newest block of the rows, block seen
-- index: token_transfers_by_from, token_transfers_by_to, token_transfers_to_self,
--   token_transfers_by_token, token_transfers_pkey, transactions_pkey, tokens_pkey, blocks_pkey
WITH ordinals AS MATERIALIZED (
    SELECT CASE %(direction)s WHEN 'asc' THEN greatest(first, %(after)s + 1) ELSE first END AS first,
        CASE %(direction)s WHEN 'desc' THEN least(last, %(after)s - 1) ELSE last END AS last
    FROM token_transfer_ordinals(%(block_from)s, %(block_to)s)
), page AS (
    SELECT ordinal
    FROM (
        (
            SELECT x.ordinal
            FROM token_transfers x
            WHERE CASE %(list)s
                WHEN 'token_transfers_by_address' THEN x.from_address = %(address)s
                WHEN 'token_transfers_by_from' THEN x.from_address = %(from)s
                WHEN 'token_transfers_by_to' THEN x.to_address = %(to)s
                    AND x.to_address IS NOT DISTINCT FROM x.from_address
                WHEN 'token_transfers_to_self' THEN x.to_address = %(to)s
                    AND x.to_address IS NOT DISTINCT FROM x.from_address
                WHEN 'token_transfers_by_token' THEN x.token_address = %(token)s
                ELSE true END
                AND (%(address)s IS NULL OR %(address)s IN (x.from_address, x.to_address))
                AND (%(from)s IS NULL OR x.from_address = %(from)s)
                AND (%(to)s IS NULL OR x.to_address = %(to)s)
                AND (%(token)s IS NULL OR x.token_address = %(token)s)
                AND (%(type)s IS NULL OR %(type)s = (
                    SELECT k.type FROM tokens k WHERE k.address = x.token_address))
                AND x.ordinal >= %(lowest)s AND x.ordinal <= %(highest)s
                AND (NOT %(has_lower)s OR x.ordinal >= (SELECT first FROM ordinals))
                AND (NOT %(has_upper)s
                    OR (x.ordinal, x.ordinal) <= (SELECT last, last FROM ordinals))
            ORDER BY CASE WHEN %(direction)s = 'asc' THEN x.ordinal END ASC,
                CASE WHEN %(direction)s = 'desc' THEN x.ordinal END DESC
            LIMIT entries_to_read(false, %(offset)s, %(limit)s)
        )
        UNION ALL
        (
            SELECT x.ordinal
            FROM token_transfers x
            WHERE CASE %(list)s
                WHEN 'token_transfers_by_address' THEN x.to_address = %(address)s
                WHEN 'token_transfers_by_to' THEN x.to_address = %(to)s
                ELSE false END AND x.to_address <> x.from_address
                AND (%(address)s IS NULL OR %(address)s IN (x.from_address, x.to_address))
                AND (%(from)s IS NULL OR x.from_address = %(from)s)
                AND (%(to)s IS NULL OR x.to_address = %(to)s)
                AND (%(token)s IS NULL OR x.token_address = %(token)s)
                AND (%(type)s IS NULL OR %(type)s = (
                    SELECT k.type FROM tokens k WHERE k.address = x.token_address))
                AND x.ordinal >= %(lowest)s AND x.ordinal <= %(highest)s
                AND (NOT %(has_lower)s OR x.ordinal >= (SELECT first FROM ordinals))
                AND (NOT %(has_upper)s
                    OR (x.ordinal, x.ordinal) <= (SELECT last, last FROM ordinals))
            ORDER BY CASE WHEN %(direction)s = 'asc' THEN x.ordinal END ASC,
                CASE WHEN %(direction)s = 'desc' THEN x.ordinal END DESC
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
    (SELECT block_reference(b) FROM blocks b WHERE b.number = %(seen_block)s)
FROM token_transfer_records(ARRAY(SELECT ordinal FROM page), %(form)s) AS entry;
