-- Keeps where the code of a verified contract is in its sources; null of source_map forgets it.
-- params: address bytea, code_hash bytea, source_map bytea null, files text
-- literals: none
-- returns: nothing
-- index: source_maps_pkey
WITH forgotten AS (
    DELETE FROM source_maps
    WHERE address = %(address)s AND code_hash = %(code_hash)s AND %(source_map)s::bytea IS NULL
)
INSERT INTO source_maps (address, code_hash, source_map, files)
SELECT %(address)s, %(code_hash)s, %(source_map)s, %(files)s::json
WHERE %(source_map)s::bytea IS NOT NULL
ON CONFLICT (address, code_hash) DO UPDATE
SET source_map = excluded.source_map, files = excluded.files;
