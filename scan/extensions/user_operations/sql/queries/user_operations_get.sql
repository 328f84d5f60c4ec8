-- The newest user operations with a hash. An entry point gives each operation another hash, but a contract
-- that has its address on another chain need not.
-- params: hash bytea
-- literals: none
-- returns: one row: index version, records as a JSON array, newest first, at most 25
-- index: user_operations_by_hash, transactions_pkey, blocks_pkey, kept_transactions_pkey
SELECT index_version(), json_list(string_agg(e.record, ',' ORDER BY e.ordinal DESC))
FROM (
    SELECT u.ordinal, user_operation_record(u, t.hash, b.timestamp)::text AS record
    FROM user_operations u
    JOIN blocks b ON b.number = u.block_number
    JOIN transactions t ON t.ordinal = b.transactions_before + u.transaction_index
    WHERE u.hash = %(hash)s AND is_kept(u.block_number, u.transaction_index)
    ORDER BY u.ordinal DESC
    LIMIT 25
) AS e;
