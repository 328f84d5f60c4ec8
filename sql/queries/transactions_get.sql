-- One transaction by its hash.
-- params: hash bytea
-- literals: none
-- returns: one row: index version, the record as JSON text or null
-- index: transactions_by_hash, blocks_pkey
SELECT index_version(), (
    SELECT transaction_record(t, b)
    FROM transactions t
    JOIN blocks b ON b.number = t.block_number
    WHERE t.hash = %(hash)s
    LIMIT 1);
