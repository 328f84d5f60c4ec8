-- Tells whether a transaction succeeded.
-- params: hash bytea
-- literals: none
-- returns: one row: index version, status (null where it is not indexed)
-- index: transactions_by_hash
SELECT index_version(), (SELECT t.status FROM transactions t WHERE t.hash = %(hash)s
        AND t.block_number >= first_kept_block());
