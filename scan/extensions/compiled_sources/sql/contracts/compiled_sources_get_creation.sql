-- Where the creation code of a verified contract is in its sources.
-- params: address bytea, code_hash bytea
-- literals: none
-- returns: no row, or: source map by zlib, files as JSON, functions by zlib
-- index: compiled_sources_pkey
SELECT creation_map, files, functions
FROM compiled_sources
WHERE address = %(address)s AND code_hash = %(code_hash)s AND creation_map IS NOT NULL;
