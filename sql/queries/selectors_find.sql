-- The selectors of functions of a name, of verified contracts and of imported signatures.
-- params: from_signature text, to_signature text, most integer
-- literals: none
-- returns: one row: index version, selectors, at most twice `most`
-- index: verified_functions_by_signature, signatures_by_signature
SELECT index_version(), ARRAY(
    (
        SELECT f.selector
        FROM verified_functions f
        WHERE f.signature >= %(from_signature)s AND f.signature < %(to_signature)s
        ORDER BY f.signature
        LIMIT %(most)s
    )
    UNION
    (
        SELECT s.selector
        FROM signatures s
        WHERE s.signature >= %(from_signature)s AND s.signature < %(to_signature)s
        ORDER BY s.signature
        LIMIT %(most)s
    )
);
