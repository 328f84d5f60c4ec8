-- The last block at or before a time, and the first at or after it. Times grow with the numbers, so
-- they are found by halving: 27 probes of the primary key for 100 million blocks, and no index.
-- params: time_s bigint
-- literals: none
-- returns: one row: index version, the number before, the number after; null where there is none
-- index: blocks_pkey
WITH RECURSIVE ends AS MATERIALIZED (
    SELECT (SELECT b.number FROM blocks b ORDER BY b.number ASC LIMIT 1) AS oldest,
        (SELECT b.number FROM blocks b ORDER BY b.number DESC LIMIT 1) AS newest
), earlier (low, high) AS (
    SELECT oldest - 1, newest + 1 FROM ends WHERE oldest IS NOT NULL
    UNION ALL
    SELECT CASE WHEN is_earlier THEN middle ELSE low END,
        CASE WHEN is_earlier THEN high ELSE middle END
    FROM (
        SELECT low, high, middle, (
            SELECT b.timestamp < to_timestamp(%(time_s)s) FROM blocks b
            WHERE b.number = middle) AS is_earlier
        FROM (SELECT low, high, (low + high) / 2 AS middle FROM earlier) AS halved
        WHERE low + 1 < high
    ) AS probed
), not_later (low, high) AS (
    SELECT oldest - 1, newest + 1 FROM ends WHERE oldest IS NOT NULL
    UNION ALL
    SELECT CASE WHEN is_not_later THEN middle ELSE low END,
        CASE WHEN is_not_later THEN high ELSE middle END
    FROM (
        SELECT low, high, middle, (
            SELECT b.timestamp <= to_timestamp(%(time_s)s) FROM blocks b
            WHERE b.number = middle) AS is_not_later
        FROM (SELECT low, high, (low + high) / 2 AS middle FROM not_later) AS halved
        WHERE low + 1 < high
    ) AS probed
)
SELECT index_version(),
    (SELECT low FROM not_later, ends WHERE low + 1 = high AND low >= oldest),
    (SELECT high FROM earlier, ends WHERE low + 1 = high AND high <= newest);
