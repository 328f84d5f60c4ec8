-- The transactions of a range of blocks that moved the most coin. The largest ones of each run of 16,384
-- transactions are indexed. Only if these are too few for the list, others are looked for among the newest
-- `most` of the range.
-- params: block_from bigint, block_to bigint, limit integer, most integer
-- literals: none
-- returns: one row: index version, data (JSON text), largest first, of how many transactions of the range
--   these are the largest: all, or the newest so many; the block of the oldest or null, how many the
--   range has
-- index: blocks_pkey, transactions_by_value, transactions_pkey
WITH bounds AS MATERIALIZED (
    SELECT o.first, o.last
    FROM transaction_ordinals(%(block_from)s, %(block_to)s) AS o
    WHERE o.first <= o.last
), large AS MATERIALIZED (
    SELECT t.ordinal, t.value
    FROM bounds o
    CROSS JOIN generate_series(o.first >> 14, o.last >> 14) AS run
    CROSS JOIN LATERAL (
        SELECT t.ordinal, t.value
        FROM transactions t
        WHERE t.status AND t.value >= 10000000000000000000 AND t.ordinal >> 14 = run
            AND t.ordinal >= o.first AND t.ordinal <= o.last
        ORDER BY t.value DESC, t.ordinal DESC
        LIMIT %(limit)s
    ) AS t
    ORDER BY t.value DESC, t.ordinal DESC
    LIMIT %(limit)s
), newest AS MATERIALIZED (
    SELECT t.ordinal, t.status, t.value
    FROM bounds o
    CROSS JOIN LATERAL (
        SELECT t.ordinal, t.status, t.value
        FROM transactions t
        WHERE t.ordinal >= o.first AND t.ordinal <= o.last
        ORDER BY t.ordinal DESC
        LIMIT CASE WHEN (SELECT count(*) FROM large) < %(limit)s THEN %(most)s ELSE 0 END
    ) AS t
), largest AS MATERIALIZED (
    SELECT ordinal, value
    FROM (
        SELECT ordinal, value FROM large
        UNION
        SELECT ordinal, value FROM newest WHERE status AND value > 0
    ) AS candidates
    ORDER BY value DESC, ordinal DESC
    LIMIT %(limit)s
), sample AS MATERIALIZED (
    SELECT o.last - o.first + 1 AS total, CASE WHEN (SELECT count(*) FROM large) < %(limit)s
        THEN least(o.last - o.first + 1, %(most)s) ELSE o.last - o.first + 1 END AS size, o.last
    FROM bounds o
)
SELECT index_version(), json_list((
        SELECT string_agg(transaction_record(t, b), ',' ORDER BY l.value DESC, l.ordinal DESC)
        FROM largest l
        JOIN transactions t ON t.ordinal = l.ordinal
        JOIN blocks b ON b.number = t.block_number)),
    coalesce((SELECT s.size FROM sample s), 0),
    (SELECT t.block_number FROM transactions t
        WHERE t.ordinal = (SELECT s.last - s.size + 1 FROM sample s)),
    coalesce((SELECT s.total FROM sample s), 0);
