-- The hash of the only one of the newest transactions whose hash begins and ends with some hex digits. All
-- of these are read: an index by hash in order would take the writer 4 to 15 microseconds a transaction.
-- params: first_hash bytea, last_hash bytea, tail text, newest bigint
-- literals: none
-- returns: one row: index version, hash in hex (null where none or several match)
-- index: transactions_pkey
SELECT index_version(), CASE WHEN count(*) = 1 THEN min(m.hash) END
FROM (
    SELECT hex(t.hash) AS hash
    FROM transactions t
    WHERE t.ordinal > (
            SELECT n.ordinal
            FROM transactions n
            ORDER BY n.ordinal DESC
            LIMIT 1) - %(newest)s
        AND t.hash BETWEEN %(first_hash)s AND %(last_hash)s
        AND right(hex(t.hash), length(%(tail)s)) = %(tail)s
        AND t.block_number >= first_kept_block()
    LIMIT 2
) AS m;
