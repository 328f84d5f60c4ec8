-- The holders of a token, largest balance first. Pages of the second half are read from the other end, so
-- that the last costs as much as the first. Pages in the middle of a large token are read from the start of
-- the range of balances in which they begin.
-- params: address bytea, limit integer, offset bigint, after_balance numeric null,
--   after_holder bytea null
-- literals: limit
-- returns: one row: index version, data (JSON text; null where there is no such token), count in
--   data, total, whether it is marked, since which block its events do not add up or null; for cursors: balance and holder of the
--   last row where more follow
-- index: token_holders_by_balance, token_holder_ranges_pkey, tokens_pkey
WITH span AS (
    SELECT k.holder_count AS total, is_marked(k) AS is_marked, marked_since(k) AS since,
        least(%(limit)s, greatest(k.holder_count - %(offset)s::numeric, 0))::bigint AS size
    FROM tokens k
    WHERE k.address = %(address)s AND k.ended_in IS NULL
), ranges AS (
    SELECT r.balance_range, r.holder_count,
        sum(r.holder_count) OVER (ORDER BY r.balance_range DESC) - r.holder_count AS before
    FROM token_holder_ranges r
    WHERE r.token_address = %(address)s AND %(after_holder)s IS NULL
        AND (SELECT %(offset)s BETWEEN 1000 AND total - 1000 FROM span)
), start AS MATERIALIZED (
    SELECT coalesce(%(after_balance)s, range_balance(r.balance_range + 1), 'Infinity') AS balance,
        coalesce(%(after_holder)s, range_holder(r.balance_range + 1), '') AS holder,
        CASE WHEN %(after_holder)s IS NULL THEN %(offset)s - coalesce(r.before, 0) END AS skipped,
        %(after_holder)s IS NULL AND r.before IS NULL AND %(offset)s > span.total / 2 AS is_from_end
    FROM span
    LEFT JOIN (
        SELECT min(balance_range) FILTER (WHERE before <= %(offset)s) AS balance_range,
            max(before) FILTER (WHERE before <= %(offset)s) AS before
        FROM ranges
        HAVING max(before + holder_count) = (SELECT total FROM span)
    ) AS r ON true
), page AS (
    SELECT holder, balance
    FROM (
        (
            SELECT h.holder, h.balance
            FROM token_holders h
            WHERE h.token_address = %(address)s AND h.balance > 0
                AND NOT (SELECT is_from_end FROM start)
                AND (h.balance, h.holder) < ((SELECT balance FROM start), (SELECT holder FROM start))
            ORDER BY h.balance DESC, h.holder DESC
            LIMIT %(limit)s
            OFFSET (SELECT skipped FROM start)
        )
        UNION ALL
        (
            SELECT h.holder, h.balance
            FROM token_holders h
            WHERE h.token_address = %(address)s AND h.balance > 0
                AND (SELECT is_from_end FROM start)
            ORDER BY h.balance ASC, h.holder ASC
            LIMIT (SELECT size FROM span)
            OFFSET (SELECT greatest(total - %(offset)s::numeric - size, 0) FROM span)
        )
    ) AS matches
    ORDER BY balance DESC, holder DESC
), last AS (
    SELECT l.balance, l.holder
    FROM (SELECT balance, holder FROM page ORDER BY balance ASC, holder ASC LIMIT 1) AS l
    WHERE CASE WHEN %(after_holder)s IS NULL
        THEN %(offset)s::numeric + (SELECT count(*) FROM page) < (SELECT total FROM span)
        ELSE EXISTS (SELECT
            FROM token_holders h
            WHERE h.token_address = %(address)s AND h.balance > 0 AND (h.balance, h.holder) < (l.balance, l.holder)) END
)
SELECT index_version(),
    CASE WHEN EXISTS (SELECT 1 FROM span)
        THEN json_list(string_agg(
            token_holder_record(page.holder, page.balance)::text, ',')) END,
    count(*),
    (SELECT total FROM span),
    (SELECT is_marked FROM span),
    (SELECT since FROM span),
    (SELECT balance FROM last),
    (SELECT holder FROM last)
FROM page;
