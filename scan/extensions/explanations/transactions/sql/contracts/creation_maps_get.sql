-- Where the creation code of a verified contract is in its sources.
-- params: address bytea, code_hash bytea
-- literals: none
-- returns: no row, or: source map by zlib, files as JSON
-- index: creation_maps_pkey
SELECT source_map, files
FROM creation_maps
WHERE address = %(address)s AND code_hash = %(code_hash)s;
