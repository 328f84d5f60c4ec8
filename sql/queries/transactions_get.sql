-- One transaction by its hash, with how many blocks confirm it (its own among them).
-- params: hash bytea
-- literals: none
-- returns: one row: index version, the record as JSON text or null
-- index: transactions_by_hash, blocks_pkey
SELECT index_version(), (
    SELECT left(transaction_record(t, b), -1)
        || CASE WHEN has_own_fields(t) THEN '' ELSE ',' || transaction_details(t) END
        || ',"confirmations":' || (SELECT max(h.number) FROM blocks h) - b.number + 1 || '}'
    FROM transactions t
    JOIN blocks b ON b.number = t.block_number
    WHERE t.hash = %(hash)s
    LIMIT 1);
