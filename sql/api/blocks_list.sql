-- Blocks of a range of numbers, which has no gaps, so an offset is arithmetic.
-- params: block_from bigint, block_to bigint, direction text, limit integer, offset bigint
-- plan depends on: direction
-- returns: one row: data (JSON text), count in data, total in the range
-- index: blocks_pkey
WITH bounds AS (
    SELECT greatest(%(block_from)s::numeric, known.lowest) AS lowest,
        least(%(block_to)s::numeric, known.highest) AS highest
    FROM (SELECT (SELECT min(number) FROM blocks) AS lowest,
        (SELECT max(number) FROM blocks) AS highest) AS known
    WHERE known.lowest IS NOT NULL
), window_ AS (
    SELECT
        CASE WHEN %(direction)s = 'asc' THEN lowest + %(offset)s
            ELSE highest - %(offset)s - (%(limit)s - 1) END AS first,
        CASE WHEN %(direction)s = 'asc' THEN lowest + %(offset)s + (%(limit)s - 1)
            ELSE highest - %(offset)s END AS last,
        lowest, highest
    FROM bounds
)
SELECT coalesce(json_agg(block_record(page.b)), '[]')::text,
    count(page.b),
    coalesce((SELECT greatest(highest - lowest + 1, 0) FROM bounds), 0)::bigint
FROM (
    SELECT b
    FROM blocks b
    WHERE b.number >= (SELECT greatest(first, lowest)::bigint FROM window_ WHERE last >= lowest)
        AND b.number <= (SELECT least(last, highest)::bigint FROM window_ WHERE first <= highest)
    ORDER BY CASE WHEN %(direction)s = 'asc' THEN b.number END ASC,
        CASE WHEN %(direction)s = 'desc' THEN b.number END DESC
    LIMIT %(limit)s
) AS page;
