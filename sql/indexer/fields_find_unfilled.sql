-- The newest block up to one that lacks its base fee, or has a transaction that lacks its later
-- columns. Walks over what is filled: a second for a million rows.
-- params: block_to bigint null, has_end boolean, fees_from bigint
-- returns: one number, null where nothing lacks
-- index: transactions_pkey, blocks_pkey
SELECT greatest(
    (SELECT t.block_number
    FROM transactions t
    WHERE t.type IS NULL
        AND (NOT %(has_end)s OR t.ordinal < (SELECT b.transactions_before + b.transaction_count
            FROM blocks b WHERE b.number = %(block_to)s))
    ORDER BY t.ordinal DESC
    LIMIT 1),
    (SELECT b.number
    FROM blocks b
    WHERE b.number >= %(fees_from)s AND b.base_fee_per_gas IS NULL
        AND (NOT %(has_end)s OR b.number <= %(block_to)s)
    ORDER BY b.number DESC
    LIMIT 1));
