-- The coin's symbol, and what messages say of tokens.
-- params: tokens bytea[]
-- literals: none
-- returns: the coin: null, 18, its symbol or "coin", true, null; each token: its address as text, decimals, the symbol that an
--   imported list or else the token has, whether a list has it, whose symbol or name it has besides (text or null)
-- index: tokens_pkey, listed_tokens_pkey
SELECT NULL::text, 18, coalesce(nullif(coin_symbol(), ''), 'coin'), true, NULL
UNION ALL
SELECT hex(k.address), k.decimals, coalesce(l.symbol, k.symbol),
    l.address IS NOT NULL AND skeleton(l.symbol) <> skeleton(coin_symbol()),
    (SELECT CASE WHEN n.address IS NULL THEN 'the coin''s symbol'
        ELSE CASE WHEN n.is_later THEN 'a later' ELSE 'another' END || ' token''s ' || (n.record ->> 'sharedText') END
    FROM namesake_of(k) n)
FROM tokens k
LEFT JOIN listed_tokens l ON l.address = k.address
WHERE k.address = ANY (%(tokens)s);
