-- Tells whether a transaction succeeded.
-- params: hash bytea
-- literals: none
-- returns: one row: index version, status (null where it is not indexed, or nothing tells it)
-- index: transactions_by_hash, blocks_pkey, contracts_pkey, kept_transactions_pkey
SELECT index_version(), (
    SELECT CASE WHEN b.unproven IS NULL OR NOT has_unknown_status(t, b) THEN t.status END
    FROM transactions t
    JOIN blocks b ON b.number = t.block_number
    WHERE t.hash = %(hash)s AND is_kept(t.block_number, t.transaction_index));
