-- Imported signatures after a place in their order.
-- params: selector bytea, signature text, limit bigint
-- returns: selector, signature
-- index: signatures_pkey
SELECT s.selector, s.signature
FROM signatures s
WHERE (s.selector, s.signature) > (%(selector)s, %(signature)s)
ORDER BY s.selector, s.signature
LIMIT %(limit)s;
