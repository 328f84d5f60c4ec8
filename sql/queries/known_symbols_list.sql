-- The first letters and digits, in lower case, of the symbols of the coin, of tokens in token lists and of the
-- tokens given.
-- params: tokens bytea[], letters integer
-- literals: none
-- returns: one row: index version, symbols
-- index: tokens_pkey
SELECT index_version(), array_agg(DISTINCT symbol_letters(known.symbol, %(letters)s))
FROM (
    SELECT coin_symbol() AS symbol
    UNION ALL
    SELECT k.symbol FROM tokens k WHERE k.address = ANY (%(tokens)s)
    UNION ALL
    SELECT l.symbol FROM listed_tokens l
) AS known;
