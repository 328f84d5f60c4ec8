-- Tokens by how many hold them. Pages of the second half are read from the other end, so that the
-- last costs what the first does.
-- params: direction text, limit integer, offset bigint, after_count bigint null,
--   after_address bytea null
-- literals: direction, limit
-- returns: one row: index version, data (JSON text), count in data, total; for cursors: holder
--   count and address of the last row where more follow
-- index: tokens_by_holder_count, tokens_by_symbol, pools_pkey, tokens_pkey, chain_pkey, blocks_pkey, contracts_pkey,
--   verified_contracts_by_code_hash, listed_tokens_pkey
WITH whole AS (
    SELECT coalesce((SELECT token_count FROM chain), 0) AS total
), span AS (
    SELECT total, %(offset)s > total / 2 AS is_from_end,
        least(%(limit)s, greatest(total - %(offset)s::numeric, 0))::bigint AS size
    FROM whole
), page AS (
    SELECT holder_count, address
    FROM (
        (
            SELECT k.holder_count, k.address
            FROM tokens k
            WHERE %(after_address)s IS NULL AND NOT (SELECT is_from_end FROM span)
            ORDER BY
                CASE WHEN %(direction)s = 'asc' THEN k.holder_count END ASC,
                CASE WHEN %(direction)s = 'asc' THEN k.address END ASC,
                CASE WHEN %(direction)s = 'desc' THEN k.holder_count END DESC,
                CASE WHEN %(direction)s = 'desc' THEN k.address END DESC
            LIMIT %(limit)s
            OFFSET %(offset)s
        )
        UNION ALL
        (
            SELECT k.holder_count, k.address
            FROM tokens k
            WHERE %(after_address)s IS NULL AND (SELECT is_from_end FROM span)
            ORDER BY
                CASE WHEN %(direction)s = 'desc' THEN k.holder_count END ASC,
                CASE WHEN %(direction)s = 'desc' THEN k.address END ASC,
                CASE WHEN %(direction)s = 'asc' THEN k.holder_count END DESC,
                CASE WHEN %(direction)s = 'asc' THEN k.address END DESC
            LIMIT (SELECT size FROM span)
            OFFSET (SELECT greatest(total - %(offset)s::numeric - size, 0) FROM span)
        )
        UNION ALL
        (
            SELECT k.holder_count, k.address
            FROM tokens k
            WHERE %(after_address)s IS NOT NULL
                AND (%(direction)s <> 'asc'
                    OR (k.holder_count, k.address) > (%(after_count)s, %(after_address)s))
                AND (%(direction)s <> 'desc'
                    OR (k.holder_count, k.address) < (%(after_count)s, %(after_address)s))
            ORDER BY
                CASE WHEN %(direction)s = 'asc' THEN k.holder_count END ASC,
                CASE WHEN %(direction)s = 'asc' THEN k.address END ASC,
                CASE WHEN %(direction)s = 'desc' THEN k.holder_count END DESC,
                CASE WHEN %(direction)s = 'desc' THEN k.address END DESC
            LIMIT %(limit)s
        )
    ) AS places
    ORDER BY
        CASE WHEN %(direction)s = 'asc' THEN holder_count END ASC,
        CASE WHEN %(direction)s = 'asc' THEN address END ASC,
        CASE WHEN %(direction)s = 'desc' THEN holder_count END DESC,
        CASE WHEN %(direction)s = 'desc' THEN address END DESC
), last AS (
    SELECT holder_count, address
    FROM page
    ORDER BY
        CASE WHEN %(direction)s = 'desc' THEN holder_count END ASC,
        CASE WHEN %(direction)s = 'desc' THEN address END ASC,
        CASE WHEN %(direction)s = 'asc' THEN holder_count END DESC,
        CASE WHEN %(direction)s = 'asc' THEN address END DESC
    LIMIT 1
), last_of_more AS (
    SELECT last.holder_count, last.address
    FROM last
    WHERE EXISTS (
        SELECT
        FROM tokens k
        WHERE (%(direction)s <> 'asc' OR (k.holder_count, k.address) > (
                (SELECT holder_count FROM last), (SELECT address FROM last)))
            AND (%(direction)s <> 'desc' OR (k.holder_count, k.address) < (
                (SELECT holder_count FROM last), (SELECT address FROM last))))
)
SELECT index_version(),
    json_list(string_agg(
        (SELECT token_record(k,
            (SELECT b.timestamp FROM blocks b WHERE b.number = k.block_number),
            EXISTS (SELECT FROM verification_of(k.address) WHERE match <> 'runtime'),
            (SELECT n.address FROM larger_namesake(k.symbol, k.holder_count, k.address) AS n),
            l.logo)::text
        FROM tokens k
        LEFT JOIN listed_tokens l ON l.address = k.address
        WHERE k.address = page.address), ',')),
    count(*),
    (SELECT total FROM whole),
    (SELECT holder_count FROM last_of_more),
    (SELECT address FROM last_of_more)
FROM page;
