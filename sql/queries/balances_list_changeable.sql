-- Whose balances, of which tokens, a development node may have changed without an event: the tokens with most
-- transfers, and the addresses that blocks have named last, whose balances of coin were read since.
-- params: most integer
-- literals: none
-- returns: one row: index version, tokens bytea[] and addresses bytea[], or nulls
-- index: tokens_by_transfers, addresses_by_balance_block
SELECT index_version(),
    (SELECT array_agg(k.address)
    FROM (
        SELECT t.address
        FROM tokens t
        WHERE t.ended_in IS NULL
        ORDER BY t.transfer_count DESC, t.address DESC
        LIMIT %(most)s) AS k),
    (SELECT array_agg(n.address)
    FROM (
        (SELECT a.address FROM addresses a WHERE a.balance_stale LIMIT %(most)s)
        UNION ALL
        (
            SELECT a.address
            FROM addresses a
            WHERE NOT a.balance_stale
            ORDER BY a.balance_block DESC
            LIMIT %(most)s
        )) AS n);
