-- The selectors of functions of a name, of verified contracts and of imported signatures: those of exactly
-- this name, and those of this name in any case.
-- params: name text, most integer
-- literals: none
-- returns: one row: index version, selectors of the name, selectors in any case, at most twice `most`
-- index: verified_functions_by_lower_signature, signatures_by_lower_signature
WITH named AS (
    (
        SELECT f.selector, f.signature
        FROM verified_functions f
        WHERE lower(f.signature) >= lower(%(name)s COLLATE "C") || '('
            AND lower(f.signature) < lower(%(name)s COLLATE "C") || ')'
        ORDER BY lower(f.signature)
        LIMIT %(most)s
    )
    UNION
    (
        SELECT s.selector, s.signature
        FROM signatures s
        WHERE lower(s.signature) >= lower(%(name)s COLLATE "C") || '('
            AND lower(s.signature) < lower(%(name)s COLLATE "C") || ')'
        ORDER BY lower(s.signature)
        LIMIT %(most)s
    )
)
SELECT index_version(),
    ARRAY(SELECT DISTINCT n.selector FROM named n WHERE starts_with(n.signature, %(name)s || '(')),
    ARRAY(SELECT DISTINCT n.selector FROM named n);
