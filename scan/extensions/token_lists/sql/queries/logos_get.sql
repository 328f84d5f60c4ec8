-- One logo of a token list.
-- params: digest bytea
-- literals: none
-- returns: one row: index version, content type, content; null where there is no such logo
-- index: logos_pkey
SELECT index_version(), l.content_type, l.content
FROM (SELECT) AS one
LEFT JOIN logos l ON l.digest = %(digest)s;
