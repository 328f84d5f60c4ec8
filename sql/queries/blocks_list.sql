-- Blocks of a range of numbers. As these have no gaps, an offset is arithmetic.
-- params: block_from bigint, block_to bigint, direction text, limit integer, offset bigint,
--   after bigint null, seen_block bigint null
-- literals: direction
-- returns: one row: index version, data (JSON text), count in data, total in the range; for
--   cursors: ordinal of the last row where more follow, newest block of the rows, block seen
-- index: blocks_pkey
WITH known AS MATERIALIZED (  -- or each use looks into the index
    SELECT (SELECT min(number) FROM blocks) AS lowest, (SELECT max(number) FROM blocks) AS highest
), numbers AS (
    SELECT greatest(%(block_from)s, known.lowest) AS first,
        least(%(block_to)s, known.highest) AS last
    FROM known
    WHERE %(block_from)s <= known.highest AND %(block_to)s >= known.lowest
), bounds AS (
    SELECT p.lowest, p.highest, p.next
    FROM numbers,
        page_of_range(numbers.first, numbers.last, %(offset)s, %(after)s, %(limit)s,
            %(direction)s) AS p
)
SELECT index_version(),
    json_list(string_agg(block_record(page.b)::text, ',')),
    count(page.b),
    coalesce((SELECT greatest(last - first + 1, 0) FROM numbers), 0),
    (SELECT next FROM bounds),
    (SELECT block_reference(n) FROM blocks n WHERE n.number = (SELECT highest FROM bounds)),
    (SELECT block_reference(s) FROM blocks s WHERE s.number = %(seen_block)s)
FROM (
    SELECT b
    FROM blocks b
    WHERE b.number BETWEEN (SELECT lowest FROM bounds) AND (SELECT highest FROM bounds)
    ORDER BY CASE WHEN %(direction)s = 'asc' THEN b.number END ASC,
        CASE WHEN %(direction)s = 'desc' THEN b.number END DESC
    LIMIT %(limit)s
) AS page;
