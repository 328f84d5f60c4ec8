-- Transfers of tokens of one type that an address sent or received, of one token or of all, in a
-- range of blocks. An address has no list by type: rows are counted from the end that the order
-- begins with.
-- params: address bytea, token bytea null, type text, has_token boolean, block_from bigint,
--   block_to bigint, has_lower boolean, has_upper boolean, direction text, limit integer,
--   offset bigint
-- returns: one row: index version, data (JSON text), null
-- index: token_transfers_by_from, token_transfers_by_to, token_transfers_pkey, transactions_pkey,
--   tokens_pkey, blocks_pkey
WITH ordinals AS MATERIALIZED (
    SELECT first, last FROM token_transfer_ordinals(%(block_from)s, %(block_to)s)
), page AS (
    SELECT ordinal
    FROM (
        (
            SELECT x.ordinal
            FROM token_transfers x
            WHERE x.from_address = %(address)s
                AND (NOT %(has_token)s OR x.token_address = %(token)s)
                AND (SELECT k.type FROM tokens k WHERE k.address = x.token_address) = %(type)s
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
            WHERE x.to_address = %(address)s AND x.to_address <> x.from_address
                AND (NOT %(has_token)s OR x.token_address = %(token)s)
                AND (SELECT k.type FROM tokens k WHERE k.address = x.token_address) = %(type)s
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
), head AS MATERIALIZED (
    SELECT max(b.number) AS number FROM blocks b
)
SELECT index_version(),
    json_list(string_agg(
        (SELECT etherscan_token_transfer_record(x, t, b, k, (SELECT number FROM head))::text
        FROM token_transfers x
        JOIN blocks b ON b.number = x.block_number
        JOIN transactions t ON t.ordinal = b.transactions_before + x.transaction_index
        JOIN tokens k ON k.address = x.token_address
        WHERE x.ordinal = page.ordinal), ',')),
    null
FROM page;
