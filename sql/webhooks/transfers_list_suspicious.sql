-- The transfers of tokens among these that are suspicious, as their records are, see transfer_suspicion().
-- params: hashes bytea[], tokens bytea[], senders bytea[], recipients bytea[], values numeric[]
-- literals: none
-- returns: for each the place among them, from 0 on, and the suspicion
-- index: transactions_by_hash, tokens_pkey
SELECT e.place - 1, s.suspicion
FROM unnest(%(hashes)s::bytea[], %(tokens)s::bytea[], %(senders)s::bytea[], %(recipients)s::bytea[], %(values)s::numeric[])
    WITH ORDINALITY AS e (hash, token, sender, recipient, value, place)
JOIN transactions t ON t.hash = e.hash
JOIN tokens k ON k.address = e.token
CROSS JOIN LATERAL (
    SELECT transfer_suspicion(nullif(e.sender, e.recipient), e.value, t.from_address, k) AS suspicion OFFSET 0) AS s
WHERE s.suspicion IS NOT NULL;
