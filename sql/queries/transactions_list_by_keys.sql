-- Transactions by several of address, sender, recipient, called function and status, counted from
-- their end.
-- They are read from the index of `list`, which leaves the least to filter; partitions outside of
-- `lowest` and `highest` are not opened: for these three see queries/lists_get_bounds.
-- params: list text, address bytea null, from bytea null, to bytea null, method bytea null,
--   status boolean null, form text, block_from bigint, block_to bigint, has_lower boolean, has_upper boolean, direction text, limit integer,
--   offset bigint, after bigint null, seen_block bigint null, lowest bigint, highest bigint
-- literals: list, has_lower, has_upper, direction, limit
-- returns: one row: index version, data (JSON text), count in data, null: the total is not known;
--   for cursors: ordinal of the last row where more follow, newest block of the rows, block seen
-- index: transactions_by_from, transactions_by_to, transactions_to_self, transactions_by_contract,
--   transactions_pkey, blocks_pkey
WITH ordinals AS MATERIALIZED (
    SELECT CASE %(direction)s WHEN 'asc' THEN greatest(first, %(after)s + 1) ELSE first END AS first,
        CASE %(direction)s WHEN 'desc' THEN least(last, %(after)s - 1) ELSE last END AS last
    FROM transaction_ordinals(%(block_from)s, %(block_to)s)
), page AS (
    SELECT ordinal
    FROM (
        (
            SELECT t.ordinal
            FROM transactions t
            WHERE CASE %(list)s
                WHEN 'transactions_by_address' THEN t.from_address = %(address)s
                WHEN 'transactions_by_from' THEN t.from_address = %(from)s
                WHEN 'transactions_by_to' THEN t.to_address = %(to)s
                    AND t.to_address IS NOT DISTINCT FROM t.from_address
                WHEN 'transactions_to_self' THEN t.to_address = %(to)s
                    AND t.to_address IS NOT DISTINCT FROM t.from_address
                ELSE true END
                AND (%(address)s IS NULL OR %(address)s IN (t.from_address, t.to_address, t.contract_address))
                AND (%(from)s IS NULL OR t.from_address = %(from)s)
                AND (%(to)s IS NULL OR t.to_address = %(to)s)
                AND (%(method)s IS NULL OR method_id(t) = %(method)s)
                AND (%(status)s IS NULL OR t.status = %(status)s)
                AND t.ordinal >= %(lowest)s AND t.ordinal <= %(highest)s
                AND (NOT %(has_lower)s OR t.ordinal >= (SELECT first FROM ordinals))
                AND (NOT %(has_upper)s
                    OR (t.ordinal, t.ordinal) <= (SELECT last, last FROM ordinals))
            ORDER BY CASE WHEN %(direction)s = 'asc' THEN t.ordinal END ASC,
                CASE WHEN %(direction)s = 'desc' THEN t.ordinal END DESC
            LIMIT entries_to_read(false, %(offset)s, %(limit)s)
        )
        UNION ALL
        (
            SELECT t.ordinal
            FROM transactions t
            WHERE CASE %(list)s
                WHEN 'transactions_by_address' THEN t.to_address = %(address)s
                WHEN 'transactions_by_to' THEN t.to_address = %(to)s
                ELSE false END AND t.to_address <> t.from_address
                AND (%(address)s IS NULL OR %(address)s IN (t.from_address, t.to_address, t.contract_address))
                AND (%(from)s IS NULL OR t.from_address = %(from)s)
                AND (%(to)s IS NULL OR t.to_address = %(to)s)
                AND (%(method)s IS NULL OR method_id(t) = %(method)s)
                AND (%(status)s IS NULL OR t.status = %(status)s)
                AND t.ordinal >= %(lowest)s AND t.ordinal <= %(highest)s
                AND (NOT %(has_lower)s OR t.ordinal >= (SELECT first FROM ordinals))
                AND (NOT %(has_upper)s
                    OR (t.ordinal, t.ordinal) <= (SELECT last, last FROM ordinals))
            ORDER BY CASE WHEN %(direction)s = 'asc' THEN t.ordinal END ASC,
                CASE WHEN %(direction)s = 'desc' THEN t.ordinal END DESC
            LIMIT entries_to_read(false, %(offset)s, %(limit)s)
        )
        UNION ALL
        (
            SELECT t.ordinal
            FROM transactions t
            WHERE %(list)s = 'transactions_by_address' AND t.contract_address = %(address)s
                AND t.contract_address <> t.from_address
                AND (%(address)s IS NULL OR %(address)s IN (t.from_address, t.to_address, t.contract_address))
                AND (%(from)s IS NULL OR t.from_address = %(from)s)
                AND (%(to)s IS NULL OR t.to_address = %(to)s)
                AND (%(method)s IS NULL OR method_id(t) = %(method)s)
                AND (%(status)s IS NULL OR t.status = %(status)s)
                AND t.ordinal >= %(lowest)s AND t.ordinal <= %(highest)s
                AND (NOT %(has_lower)s OR t.ordinal >= (SELECT first FROM ordinals))
                AND (NOT %(has_upper)s
                    OR (t.ordinal, t.ordinal) <= (SELECT last, last FROM ordinals))
            ORDER BY CASE WHEN %(direction)s = 'asc' THEN t.ordinal END ASC,
                CASE WHEN %(direction)s = 'desc' THEN t.ordinal END DESC
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
FROM transaction_records(ARRAY(SELECT ordinal FROM page), %(form)s) AS entry;
