-- Where the creation code of a verified contract is in its sources.
-- params: address bytea, code_hash bytea
-- literals: none
-- returns: no row, or: source map by zlib, files as JSON, layout of the storage by zlib
-- index: creation_maps_pkey, storage_layouts_pkey
SELECT m.source_map, m.files, l.layout
FROM creation_maps m
LEFT JOIN storage_layouts l ON l.address = m.address AND l.code_hash = m.code_hash
WHERE m.address = %(address)s AND m.code_hash = %(code_hash)s;
