-- Tokens of a list, or of all, by address.
-- params: list text null
-- returns: address text, list text, name text, symbol text, decimals smallint, logo_uri text null,
--   whether the logo is stored
-- index: listed_tokens_pkey
SELECT hex(address), list, name, symbol, decimals, logo_uri, logo IS NOT NULL
FROM listed_tokens
WHERE %(list)s::text IS NULL OR list = %(list)s
ORDER BY address;
