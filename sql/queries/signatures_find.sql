-- The events or the errors of verified contracts whose signature begins with a text, in any case, or that have a hash.
-- params: size integer, text text null, hash bytea null, most integer
-- literals: none
-- returns: one row: index version, hashes bytea[], signatures text[], and the first contracts that have them bytea[]
-- index: verified_signatures_pkey, verified_signatures_by_lower_signature
SELECT index_version(), coalesce(array_agg(f.hash), '{}'), coalesce(array_agg(f.signature), '{}'),
    coalesce(array_agg(f.address), '{}')
FROM (
    (
        SELECT s.hash, s.signature, s.address
        FROM verified_signatures s
        WHERE lower(s.signature) >= lower(%(text)s COLLATE "C")
            AND lower(s.signature) < lower(%(text)s COLLATE "C") || chr(1114111)
            AND octet_length(s.hash) = %(size)s
        ORDER BY lower(s.signature), s.signature, s.hash
        LIMIT %(most)s
    )
    UNION
    (
        SELECT s.hash, s.signature, s.address
        FROM verified_signatures s
        WHERE s.hash = %(hash)s AND octet_length(s.hash) = %(size)s
        ORDER BY s.signature
        LIMIT %(most)s
    )
) AS f;
