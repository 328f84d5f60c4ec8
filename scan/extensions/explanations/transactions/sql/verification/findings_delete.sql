-- Forgets what compilers said of the code of a verified contract.
-- params: address bytea, code_hash bytea
-- literals: none
-- returns: nothing
-- index: source_maps_pkey, creation_maps_pkey, storage_layouts_pkey
WITH source_map AS (
    DELETE FROM source_maps
    WHERE address = %(address)s AND code_hash = %(code_hash)s
), creation_map AS (
    DELETE FROM creation_maps
    WHERE address = %(address)s AND code_hash = %(code_hash)s
)
DELETE FROM storage_layouts
WHERE address = %(address)s AND code_hash = %(code_hash)s;
