-- Tokens by how many hold them.
-- params: direction text, limit integer, offset bigint
-- plan depends on: direction, limit
-- returns: one row: data (JSON text), count in data, total
-- index: tokens_by_holder_count, tokens_pkey
WITH page AS (
    SELECT k.address
    FROM tokens k
    ORDER BY
        CASE WHEN %(direction)s = 'asc' THEN k.holder_count END ASC,
        CASE WHEN %(direction)s = 'asc' THEN k.address END ASC,
        CASE WHEN %(direction)s = 'desc' THEN k.holder_count END DESC,
        CASE WHEN %(direction)s = 'desc' THEN k.address END DESC
    LIMIT %(limit)s
    OFFSET %(offset)s
)
SELECT coalesce(json_agg((
        SELECT token_record(k) FROM tokens k WHERE k.address = page.address)), '[]')::text,
    count(*),
    coalesce((SELECT token_count FROM chain), 0)
FROM page;
