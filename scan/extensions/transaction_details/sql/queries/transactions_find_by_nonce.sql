-- The transaction of a sender with a nonce, among the newest 1,000 that the sender sent.
-- params: sender bytea, nonce text
-- literals: none
-- returns: one row: index version, hash as hex (null where none of them has the nonce)
-- index: transactions_by_from
SELECT index_version(), (
    SELECT hex(newest.hash)
    FROM (
        SELECT t.hash, t.nonce
        FROM transactions t
        WHERE t.from_address = %(sender)s AND t.block_number >= first_kept_block()
        ORDER BY t.ordinal DESC
        LIMIT 1000) AS newest
    WHERE integer_text(newest.nonce) = %(nonce)s
    LIMIT 1);
