-- What is suspicious about these transfers of tokens, as their records have it.
-- params: hashes bytea[], tokens bytea[], senders bytea[], recipients bytea[], values numeric[]
-- literals: none
-- returns: for each that is indexed its place among them, from 0 on, and the suspicion or null
-- index: transactions_by_hash, tokens_pkey
SELECT e.place - 1, transfer_suspicion(nullif(e.sender, e.recipient), e.value, t.from_address, k)
FROM unnest(%(hashes)s::bytea[], %(tokens)s::bytea[], %(senders)s::bytea[], %(recipients)s::bytea[], %(values)s::numeric[])
    WITH ORDINALITY AS e (hash, token, sender, recipient, value, place)
JOIN transactions t ON t.hash = e.hash
JOIN tokens k ON k.address = e.token;
