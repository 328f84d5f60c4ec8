-- URIs of a list's logos that are not stored.
-- params: list text
-- returns: logo_uri text
-- index: listed_tokens_pkey
SELECT DISTINCT logo_uri
FROM listed_tokens
WHERE list = %(list)s AND logo_uri IS NOT NULL AND logo IS NULL
ORDER BY logo_uri;
