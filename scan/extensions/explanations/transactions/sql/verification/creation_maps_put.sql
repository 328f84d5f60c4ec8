-- Keeps where the creation code of a verified contract is in its sources; null of source_map forgets it.
-- params: address bytea, code_hash bytea, code_size integer null, search_hash bytea null,
--   masked_hash bytea null, links text null, source_map bytea null, files text
-- literals: none
-- returns: nothing
-- index: creation_maps_pkey
WITH forgotten AS (
    DELETE FROM creation_maps
    WHERE address = %(address)s AND code_hash = %(code_hash)s AND %(source_map)s::bytea IS NULL
)
INSERT INTO creation_maps (
    address, code_hash, code_size, search_hash, masked_hash, links, source_map, files)
SELECT %(address)s, %(code_hash)s, %(code_size)s, %(search_hash)s, %(masked_hash)s, %(links)s::json,
    %(source_map)s, %(files)s::json
WHERE %(source_map)s::bytea IS NOT NULL
ON CONFLICT (address, code_hash) DO UPDATE
SET code_size = excluded.code_size, search_hash = excluded.search_hash,
    masked_hash = excluded.masked_hash, links = excluded.links, source_map = excluded.source_map,
    files = excluded.files;
