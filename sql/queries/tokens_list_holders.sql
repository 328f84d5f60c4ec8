-- Who holds a token, largest balance first. Pages of the second half are read from the other end,
-- so that the last costs what the first does.
-- params: address bytea, limit integer, offset bigint, after_balance numeric null,
--   after_holder bytea null
-- literals: limit
-- returns: one row: index version, data (JSON text; null where there is no such token), count in
--   data, total; for cursors: balance and holder of the last row where more follow
-- index: token_holders_by_balance, tokens_pkey
WITH span AS (
    SELECT k.holder_count AS total, %(offset)s > k.holder_count / 2 AS is_from_end,
        least(%(limit)s, greatest(k.holder_count - %(offset)s::numeric, 0))::bigint AS size
    FROM tokens k
    WHERE k.address = %(address)s
), page AS (
    SELECT holder, balance
    FROM (
        (
            SELECT h.holder, h.balance
            FROM token_holders h
            WHERE h.token_address = %(address)s AND h.balance > 0
                AND %(after_holder)s IS NULL AND NOT (SELECT is_from_end FROM span)
            ORDER BY h.balance DESC, h.holder DESC
            LIMIT %(limit)s
            OFFSET %(offset)s
        )
        UNION ALL
        (
            SELECT h.holder, h.balance
            FROM token_holders h
            WHERE h.token_address = %(address)s AND h.balance > 0
                AND %(after_holder)s IS NULL AND (SELECT is_from_end FROM span)
            ORDER BY h.balance ASC, h.holder ASC
            LIMIT (SELECT size FROM span)
            OFFSET (SELECT greatest(total - %(offset)s::numeric - size, 0) FROM span)
        )
        UNION ALL
        (
            SELECT h.holder, h.balance
            FROM token_holders h
            WHERE %(after_holder)s IS NOT NULL
                AND h.token_address = %(address)s AND h.balance > 0
                AND (h.balance, h.holder) < (%(after_balance)s, %(after_holder)s)
            ORDER BY h.balance DESC, h.holder DESC
            LIMIT %(limit)s
        )
    ) AS places
    ORDER BY balance DESC, holder DESC
), last AS (
    SELECT balance, holder
    FROM page
    ORDER BY balance ASC, holder ASC
    LIMIT 1
), last_of_more AS (
    SELECT last.balance, last.holder
    FROM last
    WHERE EXISTS (
        SELECT
        FROM token_holders h
        WHERE h.token_address = %(address)s AND h.balance > 0
            AND (h.balance, h.holder) < ((SELECT balance FROM last), (SELECT holder FROM last)))
)
SELECT index_version(),
    CASE WHEN EXISTS (SELECT 1 FROM span)
        THEN json_list(string_agg(
            token_holder_record(page.holder, page.balance)::text, ',')) END,
    count(*),
    (SELECT total FROM span),
    (SELECT balance FROM last_of_more),
    (SELECT holder FROM last_of_more)
FROM page;
