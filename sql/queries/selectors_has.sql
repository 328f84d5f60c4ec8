-- Whether a function of a verified contract, or of an imported signature, has a selector.
-- params: selector bytea
-- literals: none
-- returns: one row: index version, whether one has
-- index: verified_functions_pkey, signatures_pkey
SELECT index_version(), EXISTS (SELECT FROM verified_functions f WHERE f.selector = %(selector)s)
    OR EXISTS (SELECT FROM signatures s WHERE s.selector = %(selector)s);
