-- Deletes orphaned blocks except the newest 10,000 of the last seven days, and the events of all but the
-- newest of those, up to 512 MiB as text, which is stored compressed. The table is small, and is read where
-- a fork has happened.
-- params: now timestamptz
-- returns: nothing
-- index: none
WITH ranked AS (
    SELECT o.hash, row_number() OVER newest > 10000
            OR o.orphaned_at < %(now)s - interval '7 days' AS is_old,
        sum(o.events_bytes) OVER newest > 536870912 AS is_beyond
    FROM orphaned_blocks o
    WINDOW newest AS (ORDER BY o.orphaned_at DESC, o.number DESC, o.hash)
), swept AS (
    DELETE FROM orphaned_blocks o
    USING ranked r
    WHERE o.hash = r.hash AND r.is_old
)
UPDATE orphaned_blocks o
SET events = NULL, events_bytes = 0
FROM ranked r
WHERE o.hash = r.hash AND r.is_beyond AND NOT r.is_old AND o.events_bytes > 0;
