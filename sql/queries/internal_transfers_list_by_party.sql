-- Internal transfers by sender or recipient, or both.
-- See "Pages of the long lists" in schema.sql.
-- params: from bytea null, to bytea null, has_from boolean, has_to boolean,
--   block_from bigint, block_to bigint, has_lower boolean, has_upper boolean, has_list boolean,
--   list text null, key bytea null, direction text, limit integer, offset bigint
-- literals: has_from, has_to, has_list, list, has_lower, has_upper, direction, limit
-- returns: one row: index version, data (JSON text), count in data, total of the list where there
--   is one, blocks that lack traces (null: none has any)
-- index: internal_transfers_by_from, internal_transfers_by_to, internal_transfers_to_self,
--   list_checkpoints_pkey, internal_transfers_pkey, transactions_pkey, blocks_pkey
WITH entries AS (
    SELECT coalesce((
        SELECT CASE %(list)s WHEN 'internal_transfers_by_from' THEN a.internal_sent_count
            WHEN 'internal_transfers_by_to' THEN a.internal_received_count END
        FROM addresses a
        WHERE a.address = %(key)s), 0) AS total
), start AS (
    SELECT s.ordinal, s.pass
    FROM entries, list_start(%(list)s, %(key)s, entries.total, %(offset)s, %(direction)s) AS s
), ordinals AS (
    SELECT first, last FROM internal_transfer_ordinals(%(block_from)s, %(block_to)s)
), bounds AS (
    SELECT CASE WHEN %(has_list)s THEN (SELECT ordinal FROM start)
            ELSE (SELECT first FROM ordinals) END AS lowest,
        CASE WHEN %(has_list)s THEN (SELECT ordinal FROM start)
            ELSE (SELECT last FROM ordinals) END AS highest
), page AS (
    SELECT ordinal
    FROM (
        (
            SELECT i.ordinal
            FROM internal_transfers i
            WHERE (NOT %(has_to)s OR (i.to_address = %(to)s AND i.to_address <> i.from_address))
                AND (NOT %(has_from)s OR i.from_address = %(from)s)
                AND (NOT %(has_lower)s OR i.ordinal >= (SELECT lowest FROM bounds))
                AND (NOT %(has_upper)s
                    OR (i.ordinal, i.ordinal) <= (SELECT highest, highest FROM bounds))
            ORDER BY CASE WHEN %(direction)s = 'asc' THEN i.ordinal END ASC,
                CASE WHEN %(direction)s = 'desc' THEN i.ordinal END DESC
            LIMIT entries_to_read(%(has_list)s, %(offset)s, %(limit)s)
        )
        UNION ALL
        (
            SELECT i.ordinal
            FROM internal_transfers i
            WHERE %(has_to)s AND i.to_address = %(to)s
                AND i.to_address IS NOT DISTINCT FROM i.from_address
                AND (NOT %(has_from)s OR i.from_address = %(from)s)
                AND (NOT %(has_lower)s OR i.ordinal >= (SELECT lowest FROM bounds))
                AND (NOT %(has_upper)s
                    OR (i.ordinal, i.ordinal) <= (SELECT highest, highest FROM bounds))
            ORDER BY CASE WHEN %(direction)s = 'asc' THEN i.ordinal END ASC,
                CASE WHEN %(direction)s = 'desc' THEN i.ordinal END DESC
            LIMIT entries_to_read(%(has_list)s, %(offset)s, %(limit)s)
        )
    ) AS places
    ORDER BY CASE WHEN %(direction)s = 'asc' THEN ordinal END ASC,
        CASE WHEN %(direction)s = 'desc' THEN ordinal END DESC
    LIMIT %(limit)s
    OFFSET (SELECT pass FROM start)
)
SELECT index_version(),
    json_list(string_agg(
        (SELECT internal_transfer_record(i,
            (SELECT t.hash FROM transactions t
                WHERE t.ordinal = b.transactions_before + i.transaction_index),
            b.timestamp)::text
        FROM internal_transfers i
        JOIN blocks b ON b.number = i.block_number
        WHERE i.ordinal = page.ordinal), ',')),
    count(*),
    (SELECT total FROM entries),
    untraced_blocks()
FROM page;
