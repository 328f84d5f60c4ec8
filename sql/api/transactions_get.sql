-- One transaction by its hash.
-- params: hash bytea
-- returns: one row: index version, the record as JSON text or null
-- index: transactions_by_hash, blocks_pkey
SELECT index_version(), (
    SELECT transaction_record(t,
        (SELECT b.timestamp FROM blocks b WHERE b.number = t.block_number))::text
    FROM transactions t
    WHERE t.hash = %(hash)s
    LIMIT 1);
