-- Tokens of a list whose contracts have other decimals.
-- params: list text
-- returns: address text, decimals of the list, of the contract
-- index: listed_tokens_pkey, tokens_pkey
SELECT hex(l.address), l.decimals, k.decimals
FROM listed_tokens l
JOIN tokens k ON k.address = l.address AND k.decimals <> l.decimals
WHERE l.list = %(list)s
ORDER BY l.address;
