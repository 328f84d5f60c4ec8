-- The tokens an address holds, where they are no more than `most`, and the first letters and digits of their
-- symbols in lower case.
-- params: address bytea, most integer, letters integer
-- literals: none
-- returns: one row: index version, whether the address holds no more than `most`, addresses, symbols (null:
--   none), those whose events do not add up, version of the token lists
-- index: token_holders_pkey, tokens_pkey
WITH held AS MATERIALIZED (
    SELECT h.token_address
    FROM held_by(%(address)s) h
    LIMIT %(most)s + 1
), counted AS MATERIALIZED (
    SELECT count(*) <= %(most)s AS is_all FROM held
)
SELECT index_version(), (SELECT is_all FROM counted), array_agg(k.address),
    array_agg(symbol_letters(k.symbol, %(letters)s)),
    array_agg(k.address) FILTER (WHERE k.inconsistent_since IS NOT NULL),
    (SELECT version FROM label_state)
FROM held h
JOIN tokens k ON k.address = h.token_address
WHERE (SELECT is_all FROM counted);
