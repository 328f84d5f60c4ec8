-- Where the creation code of a verified contract is in its sources.
-- params: address bytea, code_hash bytea
-- literals: none
-- returns: no row, or: source map by zlib, files, ABI and settings as JSON,
--   functions by zlib
-- index: compiled_sources_pkey, verified_contracts_pkey
SELECT m.creation_map, m.files, v.abi, v.settings, m.functions
FROM compiled_sources m
JOIN verified_contracts v ON v.address = m.address AND v.code_hash = m.code_hash
WHERE m.address = %(address)s AND m.code_hash = %(code_hash)s AND m.creation_map IS NOT NULL;
