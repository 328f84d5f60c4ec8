-- How many transactions of blocks have blobs.
-- params: numbers bigint[]
-- literals: none
-- returns: one row: index version, JSON text {number: count}
-- index: blocks_pkey, transactions_pkey
SELECT index_version(), coalesce(json_object_agg(b.number, (
    SELECT count(*)
    FROM transactions t
    WHERE t.ordinal >= b.transactions_before AND t.ordinal < b.transactions_before + b.transaction_count
        AND cardinality(t.blob_versioned_hashes) > 0)), '{}')::text
FROM blocks b
WHERE b.number = ANY (%(numbers)s);
