-- Transactions of one address in a range of blocks, at any depth: `list` says whether those it sent
-- (transactions_by_from), received (…_to), or either or was created by (…_address).
-- The range becomes a range of places in the list, whose pages start at a checkpoint.
-- See "Pages of the long lists" in schema.sql.
-- params: list text, key bytea, form text, block_from bigint, block_to bigint, has_lower boolean,
--   has_upper boolean, direction text, limit integer, offset bigint, after bigint null,
--   seen_block bigint null
-- literals: list, form, has_lower, has_upper, direction, limit
-- returns: one row: index version, data (JSON text), count in data, total; for cursors: ordinal
--   of the last row where more follow, newest block of the rows, block seen
-- index: transactions_by_from, transactions_by_to, transactions_to_self, transactions_by_contract,
--   list_checkpoints_pkey, addresses_pkey, transactions_pkey, blocks_pkey
WITH entries AS MATERIALIZED (
    SELECT coalesce((
        SELECT CASE %(list)s
            WHEN 'transactions_by_address' THEN a.transaction_count
            WHEN 'transactions_by_from' THEN a.sent_count
            WHEN 'transactions_by_to' THEN a.received_count END
        FROM addresses a
        WHERE a.address = %(key)s), 0) AS total
), ordinals AS (
    SELECT first, last FROM transaction_ordinals(%(block_from)s, %(block_to)s)
), bounds AS MATERIALIZED (
    SELECT entries.total AS list_total,
        CASE WHEN NOT %(has_lower)s THEN 0 ELSE coalesce((
            SELECT transaction_entries_before(
                %(list)s, %(key)s, entries.total, ordinals.first)
            FROM ordinals), entries.total) END AS first_place,
        CASE WHEN NOT %(has_upper)s THEN entries.total ELSE coalesce((
            SELECT transaction_entries_before(
                %(list)s, %(key)s, entries.total, ordinals.last + 1)
            FROM ordinals), 0) END AS end_place
    FROM entries
), span AS MATERIALIZED (
    SELECT list_total, first_place, end_place,
        CASE WHEN %(after)s IS NULL THEN least(%(offset)s, list_total)
            WHEN %(direction)s = 'asc' THEN greatest(transaction_entries_before(
                %(list)s, %(key)s, list_total, %(after)s + 1) - first_place, 0)
            ELSE greatest(end_place - transaction_entries_before(
                %(list)s, %(key)s, list_total, %(after)s), 0) END AS skip
    FROM bounds
), start AS MATERIALIZED (
    SELECT s.ordinal, s.pass, list_end(%(list)s, %(key)s, span.list_total, passed.entries,
        %(limit)s, %(direction)s) AS beyond
    FROM span,
        LATERAL (SELECT CASE WHEN %(direction)s = 'asc' THEN span.first_place
            ELSE span.list_total - span.end_place END + span.skip AS entries) AS passed,
        list_start(
            %(list)s, %(key)s, span.list_total, passed.entries, %(direction)s) AS s
), page AS (
    SELECT ordinal
    FROM (
        (
            SELECT t.ordinal
            FROM transactions t
            WHERE CASE %(list)s
                WHEN 'transactions_by_to' THEN t.to_address = %(key)s
                    AND t.to_address IS NOT DISTINCT FROM t.from_address
                ELSE t.from_address = %(key)s END
                AND (%(direction)s <> 'asc' OR (t.ordinal >= (SELECT ordinal FROM start)
                    AND t.ordinal <= (SELECT beyond FROM start)))
                AND (%(direction)s <> 'desc' OR (t.ordinal <= (SELECT ordinal FROM start)
                    AND t.ordinal >= (SELECT beyond FROM start)))
            ORDER BY CASE WHEN %(direction)s = 'asc' THEN t.ordinal END ASC,
                CASE WHEN %(direction)s = 'desc' THEN t.ordinal END DESC
            LIMIT entries_to_read(true, 0, %(limit)s)
        )
        UNION ALL
        (
            SELECT t.ordinal
            FROM transactions t
            WHERE %(list)s IN ('transactions_by_address', 'transactions_by_to')
                AND t.to_address = %(key)s AND t.to_address <> t.from_address
                AND (%(direction)s <> 'asc' OR (t.ordinal >= (SELECT ordinal FROM start)
                    AND t.ordinal <= (SELECT beyond FROM start)))
                AND (%(direction)s <> 'desc' OR (t.ordinal <= (SELECT ordinal FROM start)
                    AND t.ordinal >= (SELECT beyond FROM start)))
            ORDER BY CASE WHEN %(direction)s = 'asc' THEN t.ordinal END ASC,
                CASE WHEN %(direction)s = 'desc' THEN t.ordinal END DESC
            LIMIT entries_to_read(true, 0, %(limit)s)
        )
        UNION ALL
        (
            SELECT t.ordinal
            FROM transactions t
            WHERE %(list)s = 'transactions_by_address' AND t.contract_address = %(key)s
                AND t.contract_address <> t.from_address
                AND (%(direction)s <> 'asc' OR (t.ordinal >= (SELECT ordinal FROM start)
                    AND t.ordinal <= (SELECT beyond FROM start)))
                AND (%(direction)s <> 'desc' OR (t.ordinal <= (SELECT ordinal FROM start)
                    AND t.ordinal >= (SELECT beyond FROM start)))
            ORDER BY CASE WHEN %(direction)s = 'asc' THEN t.ordinal END ASC,
                CASE WHEN %(direction)s = 'desc' THEN t.ordinal END DESC
            LIMIT entries_to_read(true, 0, %(limit)s)
        )
    ) AS places
    ORDER BY CASE WHEN %(direction)s = 'asc' THEN ordinal END ASC,
        CASE WHEN %(direction)s = 'desc' THEN ordinal END DESC
    LIMIT (SELECT least(%(limit)s, greatest(end_place - first_place - skip, 0)) FROM span)
    OFFSET (SELECT pass FROM start)
)
SELECT index_version(),
    json_list(string_agg(entry.record, ',')),
    count(*),
    (SELECT greatest(end_place - first_place, 0) FROM span),
    CASE WHEN count(*) < (SELECT end_place - first_place - skip FROM span)
        THEN CASE %(direction)s WHEN 'asc' THEN max(page.ordinal) ELSE min(page.ordinal) END END,
    (SELECT block_reference(b) FROM blocks b WHERE b.number = max(entry.block_number)),
    (SELECT block_reference(b) FROM blocks b WHERE b.number = %(seen_block)s)
FROM page
CROSS JOIN LATERAL (
    SELECT CASE %(form)s
        WHEN 'etherscan' THEN etherscan_transaction_record(
            t, b, (SELECT max(newest.number) FROM blocks newest))::text
        ELSE transaction_record(t, b) END AS record, t.block_number
    FROM transactions t
    JOIN blocks b ON b.number = t.block_number
    WHERE t.ordinal = page.ordinal
    LIMIT 1
) AS entry;
