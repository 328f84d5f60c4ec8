-- The tokens an address holds, where they are no more than `most`, and the first letters and digits of their
-- symbols in lower case; of some what was read of them.
-- params: address bytea, read_tokens bytea[], read_balances numeric[], most integer, letters integer
-- literals: none
-- returns: one row: index version, whether the address holds no more than `most`, addresses, symbols (null:
--   none), version of the token lists
-- index: token_holders_pkey, tokens_pkey
WITH held AS MATERIALIZED (
    SELECT h.token_address
    FROM held_by(%(address)s, %(read_tokens)s::bytea[], %(read_balances)s::numeric[]) h
    LIMIT %(most)s + 1
), counted AS MATERIALIZED (
    SELECT count(*) <= %(most)s AS is_all FROM held
)
SELECT index_version(), (SELECT is_all FROM counted), array_agg(k.address),
    array_agg(symbol_letters(k.symbol, %(letters)s)),
    (SELECT version FROM label_state)
FROM held h
JOIN tokens k ON k.address = h.token_address
WHERE (SELECT is_all FROM counted);
