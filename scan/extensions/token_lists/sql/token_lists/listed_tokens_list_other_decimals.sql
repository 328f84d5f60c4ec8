-- Tokens whose decimals differ between a list and their contracts.
-- params: list text
-- returns: address text, decimals of the list, of the contract
-- index: listed_tokens_pkey, tokens_pkey
SELECT hex(l.address), l.decimals, k.decimals
FROM listed_tokens l
JOIN tokens k ON k.address = l.address AND k.decimals <> l.decimals
WHERE l.list = %(list)s
ORDER BY l.address;
