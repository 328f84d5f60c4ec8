-- The transactions before and after one, in the chain's order, that have the same sender.
-- params: hash bytea
-- literals: none
-- returns: one row: index version, JSON text with their hashes or nulls (null where no such transaction
--   is indexed)
-- index: transactions_by_hash, transactions_by_from, kept_transactions_pkey, kept_addresses_pkey
SELECT index_version(), (
    SELECT json_build_object(
        'transactionHash', hex(t.hash),
        'fromAddress', hex(t.from_address),
        'previous', (
            SELECT hex(p.hash)
            FROM (
                SELECT o.hash, o.block_number
                FROM transactions o
                WHERE o.from_address = t.from_address AND o.ordinal < t.ordinal
                ORDER BY o.ordinal DESC
                LIMIT 1) AS p
            WHERE p.block_number >= first_kept_block_of(t.from_address)),
        'next', (
            SELECT hex(o.hash)
            FROM transactions o
            WHERE o.from_address = t.from_address AND o.ordinal > t.ordinal AND t.block_number >= first_kept_block_of(t.from_address)
            ORDER BY o.ordinal
            LIMIT 1))::text
    FROM transactions t
    WHERE t.hash = %(hash)s AND is_kept(t.block_number, t.transaction_index)
    LIMIT 1);
