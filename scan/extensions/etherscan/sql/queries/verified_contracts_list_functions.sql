-- The functions of a verified ABI.
-- params: address bytea, code_hash bytea
-- returns: no row, or JSON array of the ABI's entries for functions
-- index: verified_contracts_pkey, interfaces_pkey
SELECT coalesce((
    SELECT json_agg(entry)
    FROM json_array_elements(coalesce(i.entries, v.abi)) AS entry
    WHERE coalesce(entry ->> 'type', 'function') = 'function'), '[]')
FROM verified_contracts v
LEFT JOIN interfaces i ON i.address = v.address AND i.code_hash = v.code_hash
WHERE v.address = %(address)s AND v.code_hash = %(code_hash)s;
