-- Imported signatures of functions and events; of one selector at most 20.
-- params: selectors bytea[]
-- literals: none
-- returns: one row: JSON object {selector in hex: [signature]} of those that have any
-- index: signatures_pkey
SELECT coalesce(json_object_agg(hex(asked.selector), found.signatures), '{}')::text
FROM unnest(%(selectors)s::bytea[]) AS asked (selector)
CROSS JOIN LATERAL (
    SELECT json_agg(first.signature ORDER BY first.signature) AS signatures
    FROM (
        SELECT s.signature
        FROM signatures s
        WHERE s.selector = asked.selector
        ORDER BY s.signature
        LIMIT 20
    ) AS first
) AS found
WHERE found.signatures IS NOT NULL;
