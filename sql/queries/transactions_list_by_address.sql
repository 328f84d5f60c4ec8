-- Transactions that an address sent, received or was created by; from and to narrow them.
-- See "Pages of the long lists" in schema.sql.
-- params: address bytea, from bytea null, to bytea null, has_from boolean, has_to boolean,
--   block_from bigint, block_to bigint, has_lower boolean, has_upper boolean, has_list boolean,
--   list text null, key bytea null, direction text, limit integer, offset bigint
-- literals: has_from, has_to, has_list, list, has_lower, has_upper, direction, limit
-- returns: one row: index version, data (JSON text), count in data, total of the list where there
--   is one
-- index: transactions_by_from, transactions_by_to, transactions_by_contract, list_checkpoints_pkey,
--   transactions_pkey, blocks_pkey
WITH entries AS (
    SELECT coalesce((
        SELECT a.transaction_count FROM addresses a WHERE a.address = %(key)s), 0) AS total
), start AS (
    SELECT s.ordinal, s.pass
    FROM entries, list_start(%(list)s, %(key)s, entries.total, %(offset)s, %(direction)s) AS s
), ordinals AS (
    SELECT first, last FROM transaction_ordinals(%(block_from)s, %(block_to)s)
), bounds AS (
    SELECT CASE WHEN %(has_list)s THEN (SELECT ordinal FROM start)
            ELSE (SELECT first FROM ordinals) END AS lowest,
        CASE WHEN %(has_list)s THEN (SELECT ordinal FROM start)
            ELSE (SELECT last FROM ordinals) END AS highest
), page AS (
    SELECT ordinal
    FROM (
        (
            SELECT t.ordinal
            FROM transactions t
            WHERE t.from_address = %(address)s
                AND (NOT %(has_from)s OR t.from_address = %(from)s)
                AND (NOT %(has_to)s OR t.to_address = %(to)s)
                AND (NOT %(has_lower)s OR t.ordinal >= (SELECT lowest FROM bounds))
                AND (NOT %(has_upper)s
                    OR (t.ordinal, t.ordinal) <= (SELECT highest, highest FROM bounds))
            ORDER BY CASE WHEN %(direction)s = 'asc' THEN t.ordinal END ASC,
                CASE WHEN %(direction)s = 'desc' THEN t.ordinal END DESC
            LIMIT entries_to_read(%(has_list)s, %(offset)s, %(limit)s)
        )
        UNION ALL
        (
            SELECT t.ordinal
            FROM transactions t
            WHERE t.to_address = %(address)s AND t.to_address <> t.from_address
                AND (NOT %(has_from)s OR t.from_address = %(from)s)
                AND (NOT %(has_to)s OR t.to_address = %(to)s)
                AND (NOT %(has_lower)s OR t.ordinal >= (SELECT lowest FROM bounds))
                AND (NOT %(has_upper)s
                    OR (t.ordinal, t.ordinal) <= (SELECT highest, highest FROM bounds))
            ORDER BY CASE WHEN %(direction)s = 'asc' THEN t.ordinal END ASC,
                CASE WHEN %(direction)s = 'desc' THEN t.ordinal END DESC
            LIMIT entries_to_read(%(has_list)s, %(offset)s, %(limit)s)
        )
        UNION ALL
        (
            SELECT t.ordinal
            FROM transactions t
            WHERE t.contract_address = %(address)s AND t.contract_address <> t.from_address
                AND (NOT %(has_from)s OR t.from_address = %(from)s)
                AND (NOT %(has_to)s OR t.to_address = %(to)s)
                AND (NOT %(has_lower)s OR t.ordinal >= (SELECT lowest FROM bounds))
                AND (NOT %(has_upper)s
                    OR (t.ordinal, t.ordinal) <= (SELECT highest, highest FROM bounds))
            ORDER BY CASE WHEN %(direction)s = 'asc' THEN t.ordinal END ASC,
                CASE WHEN %(direction)s = 'desc' THEN t.ordinal END DESC
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
        (SELECT transaction_record(t, b)
        FROM transactions t
        JOIN blocks b ON b.number = t.block_number
        WHERE t.ordinal = page.ordinal), ',')),
    count(*),
    (SELECT total FROM entries)
FROM page;
