-- User operations of one transaction, in the order of their events: a part of its block's ordinals.
-- params: hash bytea, direction text, limit integer, offset bigint, after bigint null,
--   seen_block bigint null
-- literals: direction, limit
-- returns: one row: index version, data (JSON text; null where no such transaction is indexed),
--   count in data, total; for cursors: ordinal of the last row where more follow, its block, block seen
-- index: transactions_by_hash, blocks_pkey, user_operations_pkey
WITH mined AS MATERIALIZED (
    SELECT t.hash, t.transaction_index, b.timestamp, block_reference(b),
        first_ordinal_in(b.number) AS first, last_ordinal_in(b.number) AS last
    FROM transactions t
    JOIN blocks b ON b.number = t.block_number
    WHERE t.hash = %(hash)s AND t.block_number >= first_kept_block()
    LIMIT 1
), operations AS MATERIALIZED (
    SELECT u
    FROM mined, user_operations u
    WHERE u.ordinal BETWEEN (SELECT first FROM mined) AND (SELECT last FROM mined)
        AND u.transaction_index = mined.transaction_index
), page AS (
    SELECT operations.u
    FROM operations
    WHERE CASE %(direction)s
        WHEN 'asc' THEN (operations.u).ordinal > coalesce(%(after)s, -1)
        ELSE (operations.u).ordinal < coalesce(%(after)s, 9223372036854775807) END
    ORDER BY CASE WHEN %(direction)s = 'asc' THEN (operations.u).ordinal END ASC,
        CASE WHEN %(direction)s = 'desc' THEN (operations.u).ordinal END DESC
    LIMIT %(limit)s
    OFFSET %(offset)s
)
SELECT index_version(),
    (SELECT json_list((
        SELECT string_agg(user_operation_record(page.u, mined.hash, mined.timestamp)::text, ',')
        FROM page)) FROM mined),
    (SELECT count(*) FROM page),
    (SELECT count(*) FROM operations),
    (SELECT CASE %(direction)s
            WHEN 'asc' THEN CASE WHEN max((page.u).ordinal) < (
                SELECT max((operations.u).ordinal) FROM operations) THEN max((page.u).ordinal) END
            ELSE CASE WHEN min((page.u).ordinal) > (
                SELECT min((operations.u).ordinal) FROM operations) THEN min((page.u).ordinal) END END
    FROM page),
    (SELECT block_reference FROM mined),
    (SELECT block_reference(b) FROM blocks b WHERE b.number = %(seen_block)s);
