-- Stores the imported signatures that are not stored yet.
-- params: none
-- returns: nothing
-- index: signatures_pkey
INSERT INTO signatures (selector, signature)
SELECT DISTINCT i.selector, i.signature
FROM imported_signatures i
ORDER BY i.selector, i.signature
ON CONFLICT DO NOTHING;
