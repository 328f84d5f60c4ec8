-- Token transfers that an address sent or received; from, to and token narrow them.
-- See "Pages of the long lists" in schema.sql.
-- params: address bytea, from bytea null, to bytea null, token bytea null, has_from boolean,
--   has_to boolean, has_token boolean,
--   block_from bigint, block_to bigint, has_lower boolean, has_upper boolean, has_list boolean,
--   list text null, key bytea null, direction text, limit integer, offset bigint
-- literals: has_from, has_to, has_token, has_list, list, has_lower, has_upper, direction, limit
-- returns: one row: index version, data (JSON text), count in data, total of the list where there
--   is one
-- index: token_transfers_by_from, token_transfers_by_to, list_checkpoints_pkey,
--   token_transfers_pkey, transactions_pkey, tokens_pkey, blocks_pkey
WITH entries AS (
    SELECT coalesce((
        SELECT a.transfer_count FROM addresses a WHERE a.address = %(key)s), 0) AS total
), start AS (
    SELECT s.ordinal, s.pass
    FROM entries, list_start(%(list)s, %(key)s, entries.total, %(offset)s, %(direction)s) AS s
), ordinals AS (
    SELECT first, last FROM token_transfer_ordinals(%(block_from)s, %(block_to)s)
), bounds AS (
    SELECT CASE WHEN %(has_list)s THEN (SELECT ordinal FROM start)
            ELSE (SELECT first FROM ordinals) END AS lowest,
        CASE WHEN %(has_list)s THEN (SELECT ordinal FROM start)
            ELSE (SELECT last FROM ordinals) END AS highest
), page AS (
    SELECT ordinal
    FROM (
        (
            SELECT x.ordinal
            FROM token_transfers x
            WHERE x.from_address = %(address)s
                AND (NOT %(has_from)s OR x.from_address = %(from)s)
                AND (NOT %(has_to)s OR x.to_address = %(to)s)
                AND (NOT %(has_token)s OR x.token_address = %(token)s)
                AND (NOT %(has_lower)s OR x.ordinal >= (SELECT lowest FROM bounds))
                AND (NOT %(has_upper)s
                    OR (x.ordinal, x.ordinal) <= (SELECT highest, highest FROM bounds))
            ORDER BY CASE WHEN %(direction)s = 'asc' THEN x.ordinal END ASC,
                CASE WHEN %(direction)s = 'desc' THEN x.ordinal END DESC
            LIMIT entries_to_read(%(has_list)s, %(offset)s, %(limit)s)
        )
        UNION ALL
        (
            SELECT x.ordinal
            FROM token_transfers x
            WHERE x.to_address = %(address)s AND x.to_address <> x.from_address
                AND (NOT %(has_from)s OR x.from_address = %(from)s)
                AND (NOT %(has_to)s OR x.to_address = %(to)s)
                AND (NOT %(has_token)s OR x.token_address = %(token)s)
                AND (NOT %(has_lower)s OR x.ordinal >= (SELECT lowest FROM bounds))
                AND (NOT %(has_upper)s
                    OR (x.ordinal, x.ordinal) <= (SELECT highest, highest FROM bounds))
            ORDER BY CASE WHEN %(direction)s = 'asc' THEN x.ordinal END ASC,
                CASE WHEN %(direction)s = 'desc' THEN x.ordinal END DESC
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
        (SELECT token_transfer_record(x,
            (SELECT t.hash FROM transactions t
                WHERE t.ordinal = b.transactions_before + x.transaction_index),
            (SELECT k.type FROM tokens k WHERE k.address = x.token_address),
            b.timestamp)::text
        FROM token_transfers x
        JOIN blocks b ON b.number = x.block_number
        WHERE x.ordinal = page.ordinal), ',')),
    count(*),
    (SELECT total FROM entries)
FROM page;
