-- Counts the rows of blocks already written in lists of few rows; sign -1 takes them away, and deletes the
-- counters of lists that have no entry left.
-- params: span block_range, sign integer
-- literals: sign
-- returns: lists that passed a checkpoint: list, key, entries they had before
-- index: list_counts_pkey
WITH changes AS MATERIALIZED (
    SELECT list, key, count FROM list_counts_changes(%(span)s::block_range)
), counted AS (
    INSERT INTO list_counts AS c (list, key, count)
    SELECT list, key, count FROM changes WHERE %(sign)s > 0
    ON CONFLICT (list, key) DO UPDATE SET count = c.count + EXCLUDED.count
    RETURNING c.list, c.key, c.count
), reduced AS (
    UPDATE list_counts c
    SET count = c.count - d.count
    FROM changes d
    WHERE %(sign)s < 0 AND c.list = d.list AND c.key = d.key AND c.count <> d.count
), emptied AS (
    DELETE FROM list_counts c
    USING changes d
    WHERE %(sign)s < 0 AND c.list = d.list AND c.key = d.key AND c.count = d.count
)
SELECT list, key, c.count - d.count
FROM counted c
JOIN changes d USING (list, key)
WHERE passes_checkpoint(c.count - d.count, c.count);
