-- Functions, events and errors in a verified ABI; of more than 2,000 the first.
-- params: address bytea, code_hash bytea
-- returns: no row, or the ABI's entries as a JSON array
-- index: verified_contracts_pkey
SELECT (
    SELECT coalesce(json_agg(entry ORDER BY ordinality), '[]')
    FROM (
        SELECT entry, ordinality
        FROM json_array_elements(v.abi) WITH ORDINALITY AS entries (entry, ordinality)
        WHERE coalesce(entry ->> 'type', 'function') IN ('function', 'event', 'error')
        ORDER BY ordinality
        LIMIT 2000
    ) AS named)
FROM verified_contracts v
WHERE v.address = %(address)s AND v.code_hash = %(code_hash)s;
