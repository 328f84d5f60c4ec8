-- Whose balances, of which tokens, a development node may have changed without an event: the tokens with most
-- transfers, and the addresses that blocks have named last.
-- params: most integer
-- literals: none
-- returns: one row: index version, tokens bytea[] and addresses bytea[], or nulls
-- index: tokens_by_transfers; it reads all addresses, which are few on such a chain
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
        SELECT a.address
        FROM addresses a
        ORDER BY a.last_seen DESC, a.address
        LIMIT %(most)s) AS n);
