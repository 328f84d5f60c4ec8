-- Functions of verified contracts; of one selector at most two.
-- params: selectors bytea[]
-- literals: none
-- returns: one row: JSON object {selector in hex: [signature]} of those that have any
-- index: verified_functions_pkey
SELECT coalesce(json_object_agg(hex(called.selector), functions.signatures), '{}')::text
FROM unnest(%(selectors)s::bytea[]) AS called (selector)
CROSS JOIN LATERAL (
    SELECT json_agg(first.signature) AS signatures
    FROM (
        SELECT f.signature
        FROM verified_functions f
        WHERE f.selector = called.selector
        ORDER BY f.signature
        LIMIT 2
    ) AS first
) AS functions
WHERE functions.signatures IS NOT NULL;
