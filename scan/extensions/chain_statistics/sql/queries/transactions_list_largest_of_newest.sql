-- The transactions that moved the most coin among the newest 10,000, since no index has them by value.
-- params: limit integer
-- literals: none
-- returns: one row: index version, data (JSON text), largest first, how many were looked through, the
--   block of the oldest of them or null
-- index: transactions_pkey, blocks_pkey
WITH newest AS MATERIALIZED (
    SELECT t.ordinal, t.block_number, t.status, t.value
    FROM transactions t
    WHERE t.ordinal >= (SELECT first_kept_ordinal('transactions'))
    ORDER BY t.ordinal DESC
    LIMIT 10000
), largest AS MATERIALIZED (
    SELECT n.ordinal, n.value
    FROM newest n
    WHERE n.status AND n.value > 0
    ORDER BY n.value DESC, n.ordinal DESC
    LIMIT %(limit)s
)
SELECT index_version(), json_list((
        SELECT string_agg(transaction_record(t, b), ',' ORDER BY l.value DESC, l.ordinal DESC)
        FROM largest l
        JOIN transactions t ON t.ordinal = l.ordinal
        JOIN blocks b ON b.number = t.block_number)),
    (SELECT count(*) FROM newest), (SELECT min(n.block_number) FROM newest n);
