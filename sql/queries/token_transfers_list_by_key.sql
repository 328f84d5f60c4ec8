-- Token transfers by one key in a range of blocks, at any depth: `list` says whether those that an
-- address sent (token_transfers_by_from), received (…_to), or either (…_address), or of a token
-- (…_token).
-- The range becomes a range of places in the list, whose pages start at a checkpoint.
-- See "Pages of the long lists" in schema.sql.
-- params: list text, key bytea, form text, block_from bigint, block_to bigint, has_lower boolean,
--   has_upper boolean, direction text, limit integer, offset bigint, after bigint null,
--   seen_block bigint null
-- literals: list, form, has_lower, has_upper, direction, limit
-- returns: one row: index version, data (JSON text), count in data, total; for cursors: ordinal
--   of the last row where more follow, newest block of the rows, block seen
-- index: token_transfers_by_from, token_transfers_by_to, token_transfers_to_self,
--   token_transfers_by_token, list_checkpoints_pkey, addresses_pkey, token_transfers_pkey,
--   transactions_pkey, tokens_pkey, blocks_pkey
WITH entries AS MATERIALIZED (
    SELECT coalesce(CASE %(list)s
        WHEN 'token_transfers_by_token' THEN (
            SELECT k.transfer_count FROM tokens k WHERE k.address = %(key)s)
        ELSE (
            SELECT CASE %(list)s
                WHEN 'token_transfers_by_address' THEN a.transfer_count
                WHEN 'token_transfers_by_from' THEN a.transfer_sent_count
                WHEN 'token_transfers_by_to' THEN a.transfer_received_count END
            FROM addresses a
            WHERE a.address = %(key)s) END, 0) AS total
), ordinals AS (
    SELECT first, last FROM token_transfer_ordinals(%(block_from)s, %(block_to)s)
), bounds AS MATERIALIZED (
    SELECT entries.total AS list_total,
        CASE WHEN NOT %(has_lower)s THEN 0 ELSE coalesce((
            SELECT token_transfer_entries_before(
                %(list)s, %(key)s, entries.total, ordinals.first)
            FROM ordinals), entries.total) END AS first_place,
        CASE WHEN NOT %(has_upper)s THEN entries.total ELSE coalesce((
            SELECT token_transfer_entries_before(
                %(list)s, %(key)s, entries.total, ordinals.last + 1)
            FROM ordinals), 0) END AS end_place
    FROM entries
), span AS MATERIALIZED (
    SELECT list_total, first_place, end_place,
        CASE WHEN %(after)s IS NULL THEN least(%(offset)s, list_total)
            WHEN %(direction)s = 'asc' THEN greatest(token_transfer_entries_before(
                %(list)s, %(key)s, list_total, %(after)s + 1) - first_place, 0)
            ELSE greatest(end_place - token_transfer_entries_before(
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
            SELECT x.ordinal
            FROM token_transfers x
            WHERE CASE %(list)s
                WHEN 'token_transfers_by_to' THEN x.to_address = %(key)s
                    AND x.to_address IS NOT DISTINCT FROM x.from_address
                WHEN 'token_transfers_by_token' THEN x.token_address = %(key)s
                ELSE x.from_address = %(key)s END
                AND (%(direction)s <> 'asc' OR (x.ordinal >= (SELECT ordinal FROM start)
                    AND x.ordinal <= (SELECT beyond FROM start)))
                AND (%(direction)s <> 'desc' OR (x.ordinal <= (SELECT ordinal FROM start)
                    AND x.ordinal >= (SELECT beyond FROM start)))
            ORDER BY CASE WHEN %(direction)s = 'asc' THEN x.ordinal END ASC,
                CASE WHEN %(direction)s = 'desc' THEN x.ordinal END DESC
            LIMIT entries_to_read(true, 0, %(limit)s)
        )
        UNION ALL
        (
            SELECT x.ordinal
            FROM token_transfers x
            WHERE %(list)s IN ('token_transfers_by_address', 'token_transfers_by_to')
                AND x.to_address = %(key)s AND x.to_address <> x.from_address
                AND (%(direction)s <> 'asc' OR (x.ordinal >= (SELECT ordinal FROM start)
                    AND x.ordinal <= (SELECT beyond FROM start)))
                AND (%(direction)s <> 'desc' OR (x.ordinal <= (SELECT ordinal FROM start)
                    AND x.ordinal >= (SELECT beyond FROM start)))
            ORDER BY CASE WHEN %(direction)s = 'asc' THEN x.ordinal END ASC,
                CASE WHEN %(direction)s = 'desc' THEN x.ordinal END DESC
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
        WHEN 'etherscan' THEN (
            SELECT etherscan_token_transfer_record(
                x, t, b, k, (SELECT max(newest.number) FROM blocks newest))::text
            FROM transactions t
            WHERE t.ordinal = b.transactions_before + x.transaction_index)
        ELSE token_transfer_record(x,
            (SELECT t.hash FROM transactions t
                WHERE t.ordinal = b.transactions_before + x.transaction_index),
            k,
            b.timestamp)::text END AS record, x.block_number
    FROM token_transfers x
    JOIN blocks b ON b.number = x.block_number
    JOIN tokens k ON k.address = x.token_address
    WHERE x.ordinal = page.ordinal
    LIMIT 1
) AS entry;
